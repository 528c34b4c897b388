"""The objective of `read`: predict the letters of lines, which are drawn differently in each epoch. Imports MXNet.

The CTC loss of the encoder, added to the decoder's cross entropy, teaches the encoder where letters are (Kim et al.
2017, arXiv:1609.06773); without it, the decoder learns many times more slowly.
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

# The middle of a letter on either side of its center: a share of its width, but at least a number of strips
MIDDLE_SHARE, MIDDLE_STRIPS = 0.25, 0.6
# Multiple that strips are padded to (MXNet plans memory for each new size); noise on the lengths by which lines are sorted
WIDTH_STEP, LENGTH_JITTER = 16, 4
# Weight of CTC in the first epochs, before the keys are distinct enough to attend to, and the share of these epochs
EARLY_CTC, EARLY_SHARE = 0.7, 0.2
# Quotes of either kind are one letter, and so are dashes and dots between words
READ_AS = str.maketrans("“”‘’—•", "\"\"''-·")
# Share of the decoder's input letters that are replaced at random, so that the decoder must look at the picture
RANDOM_LETTERS = 0.1
# Most letters that the decoder writes for a dev line, and most dev lines per evaluation
MOST_WRITTEN, DEV_LINES = 80, 400


@dataclass(frozen=True)
class Lines:
    """N texts, the seed of the random numbers by which they are drawn, and the weight of CTC in their loss."""

    texts: list[str]
    stream: tuple[int, ...]
    ctc: float


class DrawnBatches:
    """Batches of lines of similar length, from reviews, random letters and other texts; the objective draws them."""

    def __init__(self, reviews: Sequence[str], others: Sequence[str], config: ReadConfig):
        self.reviews, self.others, self.config = reviews, others, config

    def __len__(self) -> int:
        """Return the number of batches per epoch."""
        return -(-self.config.training.lines // self.config.training.batch_size)

    def epoch(self, seed: int, epoch: int) -> Iterator[Lines]:
        """Yield the batches of an epoch, depending only on seed and epoch."""
        random, settings = RandomState([seed, epoch]), self.config.training
        texts = list(lines_of(self.reviews, settings.lines, settings.invented, self.config.text.max_length, random))
        for index in numpy.flatnonzero(random.random_sample(len(texts)) < settings.signs).tolist():
            texts[index] = self.others[random.randint(len(self.others))][: self.config.text.max_length]
        lengths = numpy.array([len(text) for text in texts]) + random.random_sample(len(texts)) * LENGTH_JITTER
        ctc = max(settings.ctc, EARLY_CTC) if epoch < EARLY_SHARE * settings.epochs else settings.ctc
        for number, members in enumerate(similar_batches(lengths, settings.batch_size, random)):
            yield Lines([texts[i] for i in members], (seed, epoch, number), ctc)


class DrawnLine(NamedTuple):
    """Strips (S, HEIGHT * STRIP) of a line, the ids of its T letters, and the letters' edges in strips (T + 1,)."""

    strips: Numbers
    ids: list[int]
    edges: Numbers


class ReadingObjective(Objective):
    """Cross entropy of the parts of each letter plus the CTC loss; the decoder's character error selects the epoch."""

    metric = "character_error"

    def __init__(
        self, dev: list[Lines], device: Device, letters: Letters, faces: Sequence[Face], settings: ReadTraining
    ):
        super().__init__(dev, device)
        self.letters, self.faces, self.settings = letters, faces, settings

    def drawn(self, batch: Lines) -> list[DrawnLine]:
        """Draw the lines of a batch; a syllable that every face has replaces a line that cannot be drawn."""
        random = RandomState(list(batch.stream))
        lines = (self.drawn_line(text, random) or self.drawn_line("가", random) for text in batch.texts)
        return [line for line in lines if line]

    def drawn_line(self, text: str, random: RandomState) -> Optional[DrawnLine]:
        """Draw a text in a random face, without letters that face or vocabulary lack; None if too narrow to read."""
        face = self.faces[random.randint(len(self.faces))]
        known = (char for char in text if char.translate(READ_AS) in self.letters.ids and ord(char) in face.characters)
        text = " ".join("".join(known).split())
        line = random_line(text, face, random) if text else None
        if line is None:
            return None
        gray, edges = line
        line_strips, ids = strips(gray), [self.letters.ids[letter] for letter in text.translate(READ_AS)]
        # CTC needs a blank between equal letters
        needed = len(ids) + sum(letter == following for letter, following in zip(ids, ids[1:]))
        return DrawnLine(line_strips, ids, edges * HEIGHT / STRIP / len(gray)) if len(line_strips) >= needed else None

    def inputs(self, lines: Sequence[DrawnLine]) -> tuple[Any, Any]:
        """Return strips (N, S, HEIGHT * STRIP) and source_length (N,) on the device."""
        batch, lengths = padded([line.strips for line in lines], WIDTH_STEP)
        return mxnet.nd.array(batch, ctx=self.device), mxnet.nd.array(lengths, ctx=self.device)

    def loss(self, network: Network, batch: Lines) -> Arrays:
        lines, settings = self.drawn(batch), self.settings
        inputs, lengths = self.inputs(lines)
        shape = len(lines), max(len(line.ids) for line in lines) + 1
        targets, mask = numpy.full(shape, PADDING), numpy.zeros(shape)
        for row, line in enumerate(lines):
            targets[row, : len(line.ids) + 1], mask[row, : len(line.ids) + 1] = [*line.ids, END], 1
        logits, weights, ctc_logits = network(inputs, lengths, self.previous_ids(targets, batch))
        decoder_loss, ctc_loss = self.cross_entropy(logits, targets, mask), self.ctc(ctc_logits, lengths, lines)
        loss = (1 - batch.ctc) * decoder_loss + batch.ctc * ctc_loss
        if settings.guide:
            loss = loss + settings.guide * self.attention_loss(weights, lines)
        return loss

    def cross_entropy(self, logits: Array, targets: Numbers, mask: Numbers) -> Any:
        """Return the decoder's loss in nats per letter, from logits of parts (N, T, P), target ids and mask (N, T)."""
        nd = mxnet.nd
        target_parts = self.letters.table[targets] - self.letters.starts
        target_parts, mask = (nd.array(array, ctx=self.device) for array in (target_parts, mask / mask.sum()))
        kinds = enumerate(divided(nd, logits))
        picked = [nd.pick(nd.log_softmax(kind_logits), target_parts[..., kind]) for kind, kind_logits in kinds]
        return -(nd.add_n(*picked) * mask).sum()

    def attention_loss(self, weights: Array, lines: Sequence[DrawnLine]) -> Any:
        """Return the mean over letters of -log of the weight (N, T, S) on the letter's middle.

        Supervised attention (Liu et al. 2016, arXiv:1609.04186): the positions of drawn letters are known.
        """
        nd, centers = mxnet.nd, numpy.arange(weights.shape[2]) + 0.5
        near, count = numpy.zeros(weights.shape), 0
        for row, line in enumerate(lines):
            first, last = line.edges[:-1, None], line.edges[1:, None]
            reach = numpy.maximum((last - first) * MIDDLE_SHARE, MIDDLE_STRIPS)
            near[row, : len(line.ids)] = numpy.abs(centers - (first + last) / 2) <= reach
            count += len(line.ids)
        inside = nd.array(near, ctx=self.device)
        is_letter = inside.max(axis=2)
        return -(nd.log((weights * inside).sum(axis=2) + SMALLEST_WEIGHT) * is_letter).sum() / count

    def previous_ids(self, targets: Numbers, batch: Lines) -> Any:
        """Return the decoder's input letters (N, T): the targets shifted by one, some replaced at random."""
        random = RandomState([*batch.stream, 1])
        ids = numpy.concatenate([numpy.full((len(targets), 1), BEGIN), targets[:, :-1]], axis=1)
        replaced = random.random_sample(ids.shape) < RANDOM_LETTERS
        replaced[:, 0] = False
        ids[replaced] = random.randint(END + 1, len(self.letters), int(replaced.sum()))
        return mxnet.nd.array(ids, ctx=self.device, dtype="int32")

    def ctc(self, logits: Array, lengths: Array, lines: Sequence[DrawnLine]) -> Any:
        """Return the CTC loss (Graves et al. 2006) in nats per letter, from logits of parts (N, S, P).

        All letters outside the batch share one output: the loss is the same as with an output for each, and faster.
        """
        nd, targets = mxnet.nd, [line.ids for line in lines]
        alphabet = sorted({letter for ids in targets for letter in ids})
        label_of = {letter: label for label, letter in enumerate(alphabet, 1)}
        table = self.letters.table[[PADDING, *alphabet]]
        one_hot = numpy.zeros((len(table), self.letters.count))
        one_hot[numpy.arange(len(table))[:, None], table] = 1
        known = nd.dot(spelt(nd, logits).reshape((-3, 0)), nd.array(one_hot, ctx=self.device), transpose_b=True)
        rest = nd.log(nd.maximum(1 - nd.exp(known).sum(axis=1, keepdims=True), 1e-6))
        scores = nd.concat(known, rest, dim=1).reshape((-4, len(targets), -1, 0)).transpose((1, 0, 2))
        labels = numpy.zeros((len(targets), max(map(len, targets))))
        for row, ids in enumerate(targets):
            labels[row, : len(ids)] = [label_of[letter] for letter in ids]
        counts = nd.array([len(ids) for ids in targets], ctx=self.device)
        options = {"use_data_lengths": True, "use_label_lengths": True, "blank_label": "first"}
        losses = nd.ctc_loss(scores, nd.array(labels, ctx=self.device), lengths, counts, **options)
        return (losses / counts).mean()

    def evaluate(self, network: Network) -> dict[str, float]:
        """Return the character errors of the decoder and of CTC: edits divided by letters."""
        edits, letters = numpy.zeros(2), 0
        for batch in self.dev_batches:
            lines = self.drawn(batch)
            for line, *outputs in zip(lines, *self.read(network, lines)):
                target, *predictions = map(self.letters.text, (line.ids, *outputs))
                edits += numpy.array([edit_distance(prediction, target) for prediction in predictions])
                letters += len(target)
        return dict(zip(("character_error", "ctc_error"), (edits / letters).tolist()))

    def read(self, network: Network, lines: Sequence[DrawnLine]) -> tuple[list[list[int]], list[list[int]]]:
        """Return the letter ids of each line by greedy decoding, and those of CTC's likeliest path."""
        nd = mxnet.nd
        source, state, ctc_logits = network.begin(*self.inputs(lines))
        ids, steps, unfinished = numpy.full(len(lines), BEGIN), list[Numbers](), numpy.ones(len(lines), bool)
        while unfinished.any() and len(steps) < MOST_WRITTEN:
            logits, _, *state = network.step(nd.array(ids, ctx=self.device, dtype="int32"), *source, *state)
            ids = self.letters.log_probability(spelt(nd, logits).asnumpy()).argmax(axis=1)
            steps.append(ids)
            unfinished &= ids != END
        rows = numpy.stack(steps, axis=1).tolist()
        parts = spelt(nd, ctc_logits).asnumpy()
        ctc_ids = [ctc_path(row[: len(line.strips)], self.letters) for row, line in zip(parts, lines)]
        return [row[: row.index(END)] if END in row else row for row in rows], ctc_ids


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
    """Train on drawn lines of reviews and other texts; return the network, its Progress and the metrics of the dev part.

    `begin` changes the initial parameters.
    """
    settings = config.training
    dev_config = replace(config, training=replace(settings, lines=min(DEV_LINES, settings.lines), invented=0.0))
    dev_batches = list(DrawnBatches(dev, [], dev_config).epoch(settings.seed, DEV_STREAM))
    objective = ReadingObjective(dev_batches, run.context, letters, faces, settings)
    network = config.network(*letters.sizes)
    initialize(network, settings.seed, run.context, lambda: objective.loss(network, dev_batches[0]), begin)
    network.hybridize()
    batches = DrawnBatches(train, others, config)
    stage = Stage("read", objective, batches, settings.epochs, settings.learning_rate, settings.patience)
    progress = run.fit(network, stage, settings)
    round_tables(network)
    return network, progress, objective.evaluate(network)
