"""The model card that a bundle carries, written from its manifest alone."""

from typing import Any

from .settings import RestoreConfig

RESTORER = """\
---
language: ko
license: mit
library_name: nsmc_attention
pipeline_tag: text2text-generation
---

# Spacing and spelling of Korean film reviews

{network}. Trained on {train[sentences]:,} sentences of {train[name]}, with noise as people type; the epoch was chosen
on {dev[sentences]:,} others: {exact:.2f} % of them, with noise, are restored exactly, character error {error:.4f}.

Reproduce it with:

    {command}

Limits: short film reviews as Korean viewers write them; names and rare words are often taken for misspellings, and what
nobody but the writer knows cannot be restored.

## Running it in other languages

ONNX opset 17, standard operators only. Text as for the classifier: Unicode NFC, single spaces. The S characters that are
no spaces are the source; of each five int32: its number in `characters` of vocab.json plus 4 (1 for another one), the
rows of its initial, vowel and final (0 for a character that is no Hangul syllable), and the mark of a following space
(else 0). The rows, after the {vocabulary:,} numbers: 19 initials, 21 vowels, 28 finals (the first is none), the mark.
{graphs}
"""

GRAPHS = {
    "editor": """\
`tags` (N, S): 0 keep, 1 leave out, else the number of the character to write; `certainty` (N, S) is its probability,
`spaces` (N, S) that of a space after it.""",
    "writer": """\
source.onnx is run once; step.onnx for each character: `ids` is the number of the last one, 2 to begin; 3 is the end.
`combined` and `next_state0` are the next step's `before` (0 to begin) and `state0`; `weights` (N, S) is the attention.""",
}


def restorer_card(manifest: dict[str, Any]) -> str:
    """Return the card of a bundle of `restore`."""
    config, metrics = RestoreConfig.from_dict(manifest["config"]), manifest["metrics"]["dev"]
    return RESTORER.format(
        network=config.model.describe(),
        exact=100 * metrics["exact"],
        error=metrics["character_error"],
        graphs=GRAPHS[config.model.kind],
        **manifest["data"],
        **{name: manifest[name] for name in ("command", "vocabulary")},
    )
