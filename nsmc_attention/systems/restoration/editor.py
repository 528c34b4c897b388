"""Sequence tagging: for each character of the source, what is written in its place. Imports MXNet.

Malmi et al. 2019 (arXiv:1909.01187) and Omelianchuk et al. 2020 (arXiv:2005.12592): a text that is to be corrected is
mostly copied, so tags are enough, and nothing can be invented. Shapes: N reviews, S source length in characters without
spaces, E embedding, D units of a state, V characters that can be written.
"""

from typing import Any

from ..._runtime.aliases import Array, Operators
from ..._runtime.gluon import HybridBlock, nn
from ..sequences.graphs import SOURCE
from ..sequences.writer import Reader


class Editor(HybridBlock):
    """Two tags for each character of the source: what to write, and whether a space follows.

    Whether a character is kept is asked first, and only then what takes its place, as of the classes of a hierarchical
    softmax (Goodman 2001, arXiv:cs/0108006): of most characters the second answer is not needed.
    """

    inputs = SOURCE
    matrices_as = "float16"

    def __init__(self, rows: int, vocab_size: int, settings: Any) -> None:
        super().__init__()
        with self.name_scope():
            self.reader = Reader(rows, settings)
            self.change = nn.Dense(2, in_units=settings.width, flatten=False)
            self.narrow = nn.Dense(settings.output_units, in_units=settings.width, use_bias=False, flatten=False)
            self.tag = nn.Dense(vocab_size - 1, in_units=settings.output_units, flatten=False)
            self.space = nn.Dense(2, in_units=settings.width, flatten=False)

    def hybrid_forward(self, F: Operators, source_ids: Array, source_length: Array) -> Array:
        """Return the log-probabilities of the tags (N, S, V) and the logits of no space and a space (N, S, 2).

        A tag is KEEP, the first, DELETE or the id of the character that replaces this one (`systems.sequences.characters`).
        """
        states = F.transpose(self.reader(source_ids, source_length), axes=(1, 0, 2))
        change = F.log_softmax(self.change(states), axis=2)
        others = F.log_softmax(self.tag(self.narrow(states)), axis=2)
        keep, changed = F.slice_axis(change, axis=2, begin=0, end=1), F.slice_axis(change, axis=2, begin=1, end=2)
        return F.concat(keep, F.broadcast_add(others, changed), dim=2), self.space(states)
