"""The objective of `read`: the letters on lines that are drawn anew each time. Imports MXNet.

CTC on the encoder beside the decoder's cross entropy teaches the encoder where letters are (Kim et al. 2017,
arXiv:1609.06773); alone, the decoder learns many times slower.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Optional

import numpy
from numpy.random import RandomState

from ...machine.aliases import Array, Arrays, Device, Network, Numbers
from ...machine.gluon import mxnet
from ...network.parameters import round_tables
from ...training.checkpoint import Progress
from ...training.runs import Run
from ...training.stage import DEV_STREAM, SMALLEST_WEIGHT, Objective, Stage, similar_batches
from ...training.task import Beginning, initialize
from ..sequences.characters import BEGIN, END, PADDING, edit_distance
from .decoding import Letters, ctc_path
from .drawing import Face, lines_of, random_line
from .settings import HEIGHT, STRIP, ReadConfig, ReadTraining, divided, spelt
from .strips import padded, strips

# The middle of a letter: so much of its width on either side of its centre, and at least so many strips
MIDDLE, NEAREST_INK = 0.25, 0.6
# Strips are padded to a multiple of WIDTH_STEP, as MXNet plans its memory anew for each size. Lines of a batch differ by EDGE_JITTER
WIDTH_STEP, EDGE_JITTER = 16, 4
# Weight of CTC in the first epochs, until the decoder has keys that are worth attending to, and the share that these are
EARLY_CTC, EARLY = 0.7, 0.2
# Quotes of either kind are one letter, and so are dashes and dots between words
READ_AS = str.maketrans("“”‘’—•", "\"\"''-·")
# Share of the letters that the decoder reads which are drawn at random, so that it looks at the picture
RANDOM_LETTERS = 0.1
# Letters that the decoder may write of a line of the dev part, and most of these lines that an epoch is judged by
MOST_WRITTEN, DEV_LINES = 80, 400


@dataclass(frozen=True)
class Lines:
    """N texts that are drawn by random numbers of `stream`, and the weight of CTC in their loss."""

    texts: list[str]
    stream: tuple[int, ...]
    ctc: float


class DrawnBatches:
    """Lines of reviews, invented and other ones, in batches of similar length, drawn when the objective reads them."""

    def __init__(self, reviews: Sequence[str], others: Sequence[str], config: ReadConfig):
        self.reviews, self.others, self.config = reviews, others, config

    def __len__(self) -> int:
        """Batches in an epoch."""
        return -(-self.config.training.lines // self.config.training.batch_size)

    def epoch(self, seed: int, epoch: int) -> Iterator[Lines]:
        """Yield the batches of one epoch, which (seed, epoch) alone decides."""
        random, settings = RandomState([seed, epoch]), self.config.training
        texts = list(lines_of(self.reviews, settings.lines, settings.invented, self.config.text.max_length, random))
        for place in numpy.flatnonzero(random.random_sample(len(texts)) < settings.signs).tolist():
            texts[place] = self.others[random.randint(len(self.others))][: self.config.text.max_length]
        lengths = numpy.array([len(text) for text in texts]) + random.random_sample(len(texts)) * EDGE_JITTER
        ctc = max(settings.ctc, EARLY_CTC) if epoch < EARLY * settings.epochs else settings.ctc
        for number, members in enumerate(similar_batches(lengths, settings.batch_size, random)):
            yield Lines([texts[i] for i in members], (seed, epoch, number), ctc)


class DrawnLine(NamedTuple):
    """Strips (S, HEIGHT * STRIP), the ids of T letters, and where in strips each begins and the last ends (T + 1)."""

    strips: Numbers
    ids: list[int]
    edges: Numbers


class ReadingObjective(Objective):
    """Cross entropy of the parts of each letter, beside CTC; the decoder's character error selects the epoch."""

    metric = "character_error"

    def __init__(
        self, dev: list[Lines], device: Device, letters: Letters, faces: Sequence[Face], settings: ReadTraining
    ):
        super().__init__(dev, device)
        self.letters, self.faces, self.settings = letters, faces, settings

    def drawn(self, batch: Lines) -> list[DrawnLine]:
        """Return the lines of a batch; of one that cannot be drawn or read, one syllable."""
        random = RandomState(list(batch.stream))
        # every face has this syllable
        lines = (self.drawn_line(text, random) or self.drawn_line("가", random) for text in batch.texts)
        return [line for line in lines if line]

    def drawn_line(self, text: str, random: RandomState) -> Optional[DrawnLine]:
        """Return a text in a face drawn at random, without the letters that the face or the reader does not know."""
        face = self.faces[random.randint(len(self.faces))]
        known = (one for one in text if one.translate(READ_AS) in self.letters.ids and ord(one) in face.characters)
        text = " ".join("".join(known).split())
        line = random_line(text, face, random) if text else None
        if line is None:
            return None
        gray, edges = line
        own, ids = strips(gray), [self.letters.ids[letter] for letter in text.translate(READ_AS)]
        # CTC has a blank between two that are the same
        least = len(ids) + sum(one == other for one, other in zip(ids, ids[1:]))
        return DrawnLine(own, ids, edges * HEIGHT / STRIP / len(gray)) if len(own) >= least else None

    def inputs(self, lines: Sequence[DrawnLine]) -> tuple[Any, Any]:
        """Return strips (N, S, HEIGHT * STRIP) and source_length (N,) on the device."""
        batch, lengths = padded([line.strips for line in lines], WIDTH_STEP)
        return mxnet.nd.array(batch, ctx=self.device), mxnet.nd.array(lengths, ctx=self.device)

    def loss(self, network: Network, batch: Lines) -> Arrays:
        lines, settings = self.drawn(batch), self.settings
        given, lengths = self.inputs(lines)
        shape = len(lines), max(len(line.ids) for line in lines) + 1
        wanted, inside = numpy.full(shape, PADDING), numpy.zeros(shape)
        for row, line in enumerate(lines):
            wanted[row, : len(line.ids) + 1], inside[row, : len(line.ids) + 1] = [*line.ids, END], 1
        logits, weights, spelling = network(given, lengths, self.before(wanted, batch))
        by_decoder, by_ctc = self.cross_entropy(logits, wanted, inside), self.ctc(spelling, lengths, lines)
        loss = (1 - batch.ctc) * by_decoder + batch.ctc * by_ctc
        if settings.guide:
            loss = loss + settings.guide * self.astray(weights, lines)
        return loss

    def cross_entropy(self, logits: Array, wanted: Numbers, inside: Numbers) -> Any:
        """Return the decoder's loss, nats for each letter, of logits of parts (N, T, P)."""
        nd = mxnet.nd
        rights = self.letters.table[wanted] - self.letters.starts
        wanted, inside = (nd.array(each, ctx=self.device) for each in (rights, inside / inside.sum()))
        picked = [nd.pick(nd.log_softmax(part), wanted[..., kind]) for kind, part in enumerate(divided(nd, logits))]
        return -(nd.add_n(*picked) * inside).sum()

    def astray(self, weights: Array, lines: Sequence[DrawnLine]) -> Any:
        """Return -log of the weights (N, T, S) that are in the middle of a letter, the mean over letters.

        Supervised attention (Liu et al. 2016, arXiv:1609.04186): of what it drew, a training knows where letters are.
        """
        nd, middles = mxnet.nd, numpy.arange(weights.shape[2]) + 0.5
        near, counts = numpy.zeros(weights.shape), 0
        for row, line in enumerate(lines):
            first, last = line.edges[:-1, None], line.edges[1:, None]
            reach = numpy.maximum((last - first) * MIDDLE, NEAREST_INK)
            near[row, : len(line.ids)] = numpy.abs(middles - (first + last) / 2) <= reach
            counts += len(line.ids)
        inside = nd.array(near, ctx=self.device)
        is_letter = inside.max(axis=2)
        return -(nd.log((weights * inside).sum(axis=2) + SMALLEST_WEIGHT) * is_letter).sum() / counts

    def before(self, wanted: Numbers, batch: Lines) -> Any:
        """Return the letters that the decoder reads, (N, T): those before the wanted ones, some at random."""
        random = RandomState([*batch.stream, 1])
        ids = numpy.concatenate([numpy.full((len(wanted), 1), BEGIN), wanted[:, :-1]], axis=1)
        other = random.random_sample(ids.shape) < RANDOM_LETTERS
        other[:, 0] = False
        ids[other] = random.randint(END + 1, len(self.letters), int(other.sum()))
        return mxnet.nd.array(ids, ctx=self.device, dtype="int32")

    def ctc(self, spelling: Array, lengths: Array, lines: Sequence[DrawnLine]) -> Any:
        """CTC's loss (Graves et al. 2006) of the logits (N, S, P), nats for each letter.

        The softmax is over the letters of the batch, the blank and all others together: of every letter, in less time.
        """
        nd, targets = mxnet.nd, [line.ids for line in lines]
        alphabet = sorted({letter for ids in targets for letter in ids})
        places = {letter: place for place, letter in enumerate(alphabet, 1)}
        table = self.letters.table[[PADDING, *alphabet]]
        one_hot = numpy.zeros((len(table), self.letters.count))
        one_hot[numpy.arange(len(table))[:, None], table] = 1
        flat = nd.dot(spelt(nd, spelling).reshape((-3, 0)), nd.array(one_hot, ctx=self.device), transpose_b=True)
        rest = nd.log(nd.maximum(1 - nd.exp(flat).sum(axis=1, keepdims=True), 1e-6))
        scores = nd.concat(flat, rest, dim=1).reshape((-4, len(targets), -1, 0)).transpose((1, 0, 2))
        labels = numpy.zeros((len(targets), max(map(len, targets))))
        for row, ids in enumerate(targets):
            labels[row, : len(ids)] = [places[letter] for letter in ids]
        counts = nd.array([len(ids) for ids in targets], ctx=self.device)
        options = {"use_data_lengths": True, "use_label_lengths": True, "blank_label": "first"}
        losses = nd.ctc_loss(scores, nd.array(labels, ctx=self.device), lengths, counts, **options)
        return (losses / counts).mean()

    def evaluate(self, network: Network) -> dict[str, float]:
        """Return the character errors of the decoder and of CTC, each edits by letters."""
        edits, letters = numpy.zeros(2), 0
        for batch in self.dev_batches:
            lines = self.drawn(batch)
            for line, *found in zip(lines, *self.read(network, lines)):
                right, *read = map(self.letters.text, (line.ids, *found))
                edits += numpy.array([edit_distance(text, right) for text in read])
                letters += len(right)
        return dict(zip(("character_error", "ctc_error"), (edits / letters).tolist()))

    def read(self, network: Network, lines: Sequence[DrawnLine]) -> tuple[list[list[int]], list[list[int]]]:
        """Return the letters that the decoder writes greedily, and those of CTC's likeliest path."""
        nd = mxnet.nd
        source, state, spelling = network.begin(*self.inputs(lines))
        ids, written, is_open = numpy.full(len(lines), BEGIN), list[Numbers](), numpy.ones(len(lines), bool)
        while is_open.any() and len(written) < MOST_WRITTEN:
            logits, _, *state = network.step(nd.array(ids, ctx=self.device, dtype="int32"), *source, *state)
            ids = self.letters.log_probability(spelt(nd, logits).asnumpy()).argmax(axis=1)
            written.append(ids)
            is_open &= ids != END
        rows = numpy.stack(written, axis=1).tolist()
        parts = spelt(nd, spelling).asnumpy()
        by_ctc = [ctc_path(own[: len(line.strips)], self.letters) for own, line in zip(parts, lines)]
        return [row[: row.index(END)] if END in row else row for row in rows], by_ctc


def train_network(
    config: ReadConfig,
    letters: Letters,
    run: Run,
    train: Sequence[str],
    others: Sequence[str],
    dev: Sequence[str],
    faces: Sequence[Face],
    begin: Optional[Beginning] = None,
) -> tuple[Network, Progress, dict[str, float]]:
    """Train on reviews and other lines drawn with these faces; return the network, the Progress and the figures of the dev part.

    `begin` changes the network's first parameters.
    """
    settings = config.training
    of_dev = replace(config, training=replace(settings, lines=min(DEV_LINES, settings.lines), invented=0.0))
    judged = list(DrawnBatches(dev, [], of_dev).epoch(settings.seed, DEV_STREAM))
    objective = ReadingObjective(judged, run.context, letters, faces, settings)
    network = config.network(*letters.sizes)
    initialize(network, settings.seed, run.context, lambda: objective.loss(network, judged[0]), begin)
    network.hybridize()
    batches = DrawnBatches(train, others, config)
    stage = Stage("read", objective, batches, settings.epochs, settings.learning_rate, settings.patience)
    progress = run.fit(network, stage, settings)
    round_tables(network)
    return network, progress, objective.evaluate(network)
