"""The training of `restore`: clean sentences are recovered from noisy copies. Imports MXNet.

A source is drawn anew each time a sentence is read. Long texts are rare among reviews: some sentences are joined.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

import numpy

from ...bundle import load_bundle
from ...corpora.data import Texts
from ...errors import DataError
from ...machine.aliases import Array, Arrays, Device, Network, Numbers
from ...machine.files import read_rows
from ...machine.gluon import mxnet
from ...network.parameters import round_tables
from ...text.encoding import clean
from ...training.checkpoint import Progress
from ...training.runs import Run, warn, warn_if_small
from ...training.stage import DEV_STREAM, Objective, Stage, hold_out, similar_batches
from ...training.task import Beginning, TaskTraining, digest, initialize
from ..sequences.characters import BEGIN, END, KEEP, Characters, split_spaces
from .correctors import character_error, tagged, tags_of, written
from .junctions import RestorerCharacters
from .noise import slipped, typed
from .settings import EDITOR, LAYOUT, RestoreConfig, RestorerBundle, most_written

# Sources are padded to a multiple of this: MXNet plans its memory anew for each size
LENGTH_STEP = 4
# How far sentences in a batch may differ in length, so that it is another batch in each epoch
LENGTH_JITTER = 4
# The share of the pairs that is read as it was typed
AS_TYPED = 0.5
# Most sentences that the epoch is chosen by, and fewest to train on
MOST_DEV, FEWEST_SENTENCES = 2000, 100


class Pairs(NamedTuple):
    """N sources and what each was meant to be."""

    sources: list[str]
    targets: list[str]


@dataclass(frozen=True)
class NoisyBatches:
    """Clean sentences with noise, in batches of similar length.

    `joined` more for each of them are two to four joined, of at most `longest` characters. The share `slipped` has a few
    misspellings at most, others have those of `typed`. `pairs` are learnt beside them, half as they were typed.
    """

    targets: Sequence[str]
    batch_size: int
    longest: int
    joined: float
    slipped: float = 0.0
    pairs: Pairs = Pairs([], [])

    @property
    def extra(self) -> int:
        return round(len(self.targets) * self.joined)

    def __len__(self) -> int:
        """Batches in an epoch."""
        return -(-(len(self.targets) + self.extra + len(self.pairs.targets)) // self.batch_size)

    def epoch(self, seed: int, epoch: int) -> Iterator[Pairs]:
        """Yield the batches of one epoch, which (seed, epoch) alone decides."""
        random = numpy.random.RandomState([seed, epoch])
        texts = [*self.pairs.targets, *self.targets, *(self.join(random) for _ in range(self.extra))]
        lengths = numpy.array([len(text) for text in texts]) + random.random_sample(len(texts)) * LENGTH_JITTER
        for members in similar_batches(lengths, self.batch_size, random):
            targets = [texts[i] for i in members]
            yield Pairs([self.source(number, texts[number], random) for number in members], targets)

    def source(self, number: int, text: str, random: numpy.random.RandomState) -> str:
        """Return a text with noise; that of a pair, which come first, as it was typed or with few misspellings."""
        draw = random.random_sample()
        if number < len(self.pairs.sources):
            return self.pairs.sources[number] if draw < AS_TYPED else slipped(text, random)
        return (slipped if draw < self.slipped else typed)(text, random)

    def join(self, random: numpy.random.RandomState) -> str:
        """Return up to four sentences, drawn at random, one after the other."""
        chosen = [self.targets[random.randint(len(self.targets))] for _ in range(random.randint(2, 5))]
        text = chosen[0]
        for other in chosen[1:]:
            if len(text) + 1 + len(other) <= self.longest:
                text += " " + other
        return text


def read_pairs(path: Path) -> Pairs:
    """Return the texts of a table with the columns typed and meant."""
    rows = [(clean(row["typed"]), clean(row["meant"])) for row in read_rows(path)]
    return Pairs([typed for typed, _ in rows], [meant for _, meant in rows])


def dev_pairs(targets: Sequence[str], seed: int) -> Pairs:
    """Return the dev part with noise that is the same in every evaluation, sorted by length."""
    random = numpy.random.RandomState([seed, DEV_STREAM])
    pairs = sorted(((typed(text, random), text) for text in targets), key=lambda pair: (len(pair[0]), pair))
    return Pairs([source for source, _ in pairs], [target for _, target in pairs])


class RestoringObjective(Objective):
    """Base: `evaluate` restores the dev part; the character error selects the epoch."""

    metric = "character_error"

    def __init__(self, dev: Pairs, device: Device, characters: Characters, batch_size: int, smoothing: float = 0.0):
        super().__init__(dev, device)
        self.characters, self.batch_size, self.smoothing = characters, batch_size, smoothing

    def restored(self, network: Network, sources: list[str]) -> list[str]:
        """Return the network's outputs for a batch of sources."""
        raise NotImplementedError

    def evaluate(self, network: Network) -> dict[str, float]:
        """Return the mean character error, and the share that is restored exactly, 0 to 1."""
        dev, size = self.dev_batches, self.batch_size
        batches = (dev.sources[start : start + size] for start in range(0, len(dev.sources), size))
        pairs = list(zip(chain.from_iterable(self.restored(network, batch) for batch in batches), dev.targets))
        errors = [character_error(text, target) for text, target in pairs]
        exact = [text == target for text, target in pairs]
        return {"character_error": float(numpy.mean(errors)), "exact": float(numpy.mean(exact))}

    def inputs(self, sources: list[str]) -> tuple[Any, Any]:
        """Return source_ids (N, S, ROWS) and source_length (N,) on the device."""
        ids, lengths = self.characters.batch(sources, LENGTH_STEP)
        return mxnet.nd.array(ids, ctx=self.device, dtype="int32"), mxnet.nd.array(lengths, ctx=self.device)

    def cross_entropy(self, logits: Array, wanted: Numbers, weights: Numbers) -> Any:
        """(N, T, V) and the right ones (N, T) -> (1,), nats, the mean by weights (N, T).

        Label smoothing e: 1 - e for the right one, e shared by all (Szegedy et al. 2016, arXiv:1512.00567, section 7).
        """
        nd = mxnet.nd
        right, weight = nd.array(wanted, ctx=self.device), nd.array(weights, ctx=self.device)
        logs = nd.log_softmax(logits)
        loss = -nd.pick(logs, right)
        if self.smoothing:
            loss = (1 - self.smoothing) * loss - self.smoothing * logs.mean(axis=-1)
        return (loss * weight).sum() / float(weights.sum())


class EditorObjective(RestoringObjective):
    """Cross entropy of the tags and of the spaces."""

    def loss(self, network: Network, batch: Pairs) -> Arrays:
        ids, lengths = self.inputs(batch.sources)
        shape = ids.shape[:2]
        tags, spaces, inside = numpy.full(shape, KEEP), numpy.zeros(shape), numpy.zeros(shape)
        for row, (source, target) in enumerate(zip(batch.sources, batch.targets)):
            own, follows = tags_of(source, target, self.characters)
            tags[row, : len(own)], spaces[row, : len(own)], inside[row, : len(own)] = own, follows, 1
        tag_logits, space_logits = network(ids, lengths)
        return self.cross_entropy(tag_logits, tags, inside) + self.cross_entropy(space_logits, spaces, inside)

    def restored(self, network: Network, sources: list[str]) -> list[str]:
        tags, spaces = (
            logits.argmax(axis=2).asnumpy().astype(int).tolist() for logits in network(*self.inputs(sources))
        )
        letters = [split_spaces(source)[0] for source in sources]
        return [tagged(*row, self.characters)[0] for row in zip(letters, tags, spaces)]


class WriterObjective(RestoringObjective):
    """Cross entropy of each next character; of the dev part, what a greedy search writes."""

    def loss(self, network: Network, batch: Pairs) -> Arrays:
        targets = [self.characters.target(target) for target in batch.targets]
        longest = max(map(len, targets))
        wanted, inside = numpy.zeros((len(targets), longest)), numpy.zeros((len(targets), longest))
        for row, ids in enumerate(targets):
            wanted[row, : len(ids)], inside[row, : len(ids)] = ids, 1
        before = numpy.concatenate([numpy.full((len(targets), 1), BEGIN), wanted[:, :-1]], axis=1)
        given = mxnet.nd.array(before, ctx=self.device, dtype="int32")
        logits, _ = network(*self.inputs(batch.sources), given)
        return self.cross_entropy(logits, wanted, inside)

    def restored(self, network: Network, sources: list[str]) -> list[str]:
        """Write greedily, at most what `most_written` allows the longest."""
        nd = mxnet.nd
        source, state = network.begin(*self.inputs(sources))
        ids, steps = nd.full((len(sources),), BEGIN, dtype="int32", ctx=self.device), []
        for _ in range(most_written(max(map(len, sources)))):
            logits, weights, *state = network.step(ids, *source, *state)
            ids = logits.argmax(axis=1).astype("int32")
            steps.append((ids, weights.argmax(axis=1)))
            if len(steps) % 8 == 0 and all(
                END in row for row in nd.stack(*(chosen for chosen, _ in steps), axis=1).asnumpy()
            ):
                break
        written_ids, places = (nd.stack(*arrays, axis=1).asnumpy().astype(int).tolist() for arrays in zip(*steps))
        letters = [split_spaces(source)[0] for source in sources]
        return [written(*row, self.characters)[0] for row in zip(written_ids, places, letters)]


OBJECTIVES: dict[str, type[RestoringObjective]] = {"editor": EditorObjective, "writer": WriterObjective}


def train_network(
    network: Network,
    config: RestoreConfig,
    characters: Characters,
    run: Run,
    train: Sequence[str],
    dev: Sequence[str],
    begin: Optional[Beginning] = None,
) -> tuple[Progress, dict[str, float]]:
    """Train a network, whose first parameters `begin` changes; return the Progress and the figures of the dev part."""
    settings, size, noisy = config.training, config.training.batch_size, dev_pairs(dev, config.training.seed)
    objective = OBJECTIVES[config.model.kind](noisy, run.context, characters, size, settings.label_smoothing)
    pairs = read_pairs(Path(settings.pairs)) if settings.pairs else Pairs([], [])
    batches = NoisyBatches(train, size, config.text.max_length, settings.joined, settings.slipped, pairs)
    first = Pairs(noisy.sources[:1], noisy.targets[:1])
    initialize(network, settings.seed, run.context, lambda: objective.loss(network, first), begin)
    network.hybridize(static_alloc=config.model.kind == "editor")
    stage = Stage("restore", objective, batches, settings.epochs, settings.learning_rate, settings.patience)
    progress = run.fit(network, stage, settings)
    round_tables(network)
    return progress, objective.evaluate(network)


def train_restorer(
    source: Texts, config: RestoreConfig, run: Run, init_from: Union[str, Path, None] = None
) -> RestorerBundle:
    """Train a restorer on well-spelt sentences (recipes/spelling.py chooses those of reviews) and return its bundle.

    Sentences longer than text.max_length are left out. `init_from` is a restorer's bundle of the same settings, whose
    parameters and characters the training begins with. DataError if a file is missing, malformed or has fewer than
    FEWEST_SENTENCES; ConfigError if the run folder is of another run, the loss is not finite or there is no such device.
    """
    name, texts = source.read()
    sentences = sentences_of(texts, config)
    if len(sentences) < FEWEST_SENTENCES:
        expected = f"{FEWEST_SENTENCES} different sentences of at most {config.text.max_length} characters"
        raise DataError(f"{name}: expected at least {expected}, found {len(sentences)}")
    training = TaskTraining(run, LAYOUT, config, init_from)
    training.check(name, {"sentences": digest(sentences)})
    train, dev = ([sentences[i] for i in part] for part in hold_out(len(sentences), config.training, MOST_DEV))
    first = training.first
    characters = RestorerCharacters(first.codec.known) if first else RestorerCharacters.of(train, config.text.min_count)
    sizes = f"{len(train):,} sentences to train on, {len(dev):,} to choose the epoch by (dev)"
    run.say(f"data: {name}, {sizes}, {len(characters):,} characters")
    begin, network = training.begin(), config.network(*characters.sizes)
    progress, figures = train_network(network, config, characters, run, train, dev, begin)
    if config.model.kind == "editor":
        # what the dictionary says of spaces holds of any sentences; recipes/junctions.py fits others
        packaged = first if first and first.codec.junctions else load_bundle(EDITOR, LAYOUT)
        characters = replace(characters, junctions=packaged.codec.junctions)
    counts = {"train": {"name": name, "sentences": len(train)}, "dev": {"sentences": len(dev)}}
    codec = characters.to_json().encode()
    bundle = training.write(network, progress, figures, counts, codec, vocabulary=len(characters))
    best = bundle.manifest["metrics"]["dev"]
    judged = f"{100 * best['exact']:.2f} % restored exactly, character error {best['character_error']:.4f}"
    run.say(f"dev: {judged} (epoch {best['best_epoch']}); bundle: {bundle.folder}")
    warn_if_small(len(dev), "sentence", "share restored exactly", best["exact"])
    noisy = dev_pairs(dev, config.training.seed)
    untouched = sum(map(character_error, noisy.sources, noisy.targets)) / len(dev)
    if best["character_error"] >= untouched:
        found = f"sentences left as they are have a smaller error, {untouched:.4f}"
        warn(f"{found}; give some 100,000, or begin with --init-from")
    return bundle


def sentences_of(texts: Iterable[str], config: RestoreConfig) -> list[str]:
    """Return the sentences that a restorer of these settings learns from, each once."""
    return [text for text in dict.fromkeys(map(clean, texts)) if text and len(text) <= config.text.max_length]
