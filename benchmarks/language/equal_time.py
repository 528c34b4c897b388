"""Accuracy after equal training time: GRU and Transformer without pretraining, and pretrained on hidden words, stars or
both; the table of docs/language.md.

    NSMC_ATTENTION_DATA=... python -m benchmarks.language.equal_time RUNS [--minutes 4] [--seeds 0 1 2] [--rows "GRU: labels" ...]

The stages of a row share the same number of minutes on one core: the first call measures the time of a step of each stage,
and writes the numbers of steps to rates.json. Words and stars come from the raw star reviews, without the reviews of the
official test file and of the dev part; the labels are those of the training file. The networks have no n-grams. Finished
rows are not trained again, and two processes may train different rows. The script prints the table of all finished rows.
"""

import argparse
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, Optional

os.environ["OMP_NUM_THREADS"] = "1"

import numpy

from nsmc_attention.classifier.batches import Batches, encode
from nsmc_attention.classifier.origins import init_encoder as init_from_language_model
from nsmc_attention.classifier.settings import PRESETS, Config
from nsmc_attention.classifier.stages import ClassifierTrainer, LabelsObjective, predict_batches
from nsmc_attention.classifier.train import read_inputs, tokenized
from nsmc_attention.corpora import labelled, nsmc
from nsmc_attention.machine.mxnet_shim import import_mxnet
from nsmc_attention.measure.metrics import headline
from nsmc_attention.network.parameters import snapshot
from nsmc_attention.systems.language.model import MASK, Masker, Tokens
from nsmc_attention.systems.language.objective import MaskedBatches, MaskedObjective, new_network
from nsmc_attention.systems.language.settings import LANGUAGE_PRESETS
from nsmc_attention.text.encoding import ReviewEncoder
from nsmc_attention.text.preprocessing import build_vocab
from nsmc_attention.training.loop import make_trainer, train_step
from nsmc_attention.training.runs import Run
from nsmc_attention.training.stage import Stage
from nsmc_attention.training.task import Beginning

mxnet = import_mxnet()

ENCODERS: dict[str, dict[str, Any]] = {"GRU": {}, "Transformer": {"model.encoder.kind": "transformer"}}
BEGINNINGS = {
    "labels": {"labels": 1.0},
    "hidden words, labels": {"masked": 0.6, "labels": 0.4},
    "stars, labels": {"stars": 0.6, "labels": 0.4},
    "hidden words, stars, labels": {"masked": 0.3, "stars": 0.3, "labels": 0.4},
}
ROWS = {f"{encoder}: {name}": (encoder, name) for name in BEGINNINGS for encoder in ENCODERS}
# The dev part chooses among so many moments of the last stage
EPOCHS = 4
# Largest step sizes: the GRU's from random numbers is that of its preset, what has begun goes on with half of it;
# hidden words have that of their preset
RATE, FIRST_RATE = 1e-3, {"GRU": 2e-3, "Transformer": 1e-3}
WARM, TIMED = 20, 80


@dataclass(frozen=True)
class Steps:
    """The batches of another, so many an epoch."""

    batches: Any
    steps: int

    def __len__(self) -> int:
        return self.steps

    def epoch(self, seed: int, epoch: int) -> Iterator[Any]:
        passes, done = divmod(epoch * self.steps, len(self.batches))
        endless = chain.from_iterable(self.batches.epoch(seed, number) for number in count(passes))
        return islice(endless, done, done + self.steps)


class Comparison:
    """The data of all rows, read once, and their trainings."""

    def __init__(self, runs: Path):
        self.runs, self.device = runs, mxnet.cpu()
        config = config_of("GRU", 0)
        reviews = labelled.load_reviews("nsmc", "train")
        inputs = read_inputs(reviews, None, config, None, Run(runs))
        raw = inputs.stars
        assert raw, "config_of asks for the stage of the stars"
        vocabulary = build_vocab([*raw.reviews, *inputs.train.reviews], config.text, reserved=[MASK])
        self.encoder = ReviewEncoder.from_json(vocabulary.to_json().encode(), config.text)
        train, dev, stars, test = (
            encode(part, self.encoder)
            for part in (inputs.train, inputs.dev, raw, tokenized(nsmc.load("nsmc", "test"), config))
        )
        self.batches, self.dev, self.stars, self.test = (
            Batches(part.reviews, part.labels, self.encoder, config.training.batch_size)
            for part in (train, dev, stars, test)
        )
        lengths = numpy.array([len(each) for each in stars.reviews])
        self.tokens = Tokens(numpy.concatenate([each.ids for each in stars.reviews]).astype("int32"), lengths)
        self.few = Tokens(self.tokens.ids[: lengths[:1000].sum()], lengths[:1000])

    def classifier(self, encoder: str, seed: int, begin: Optional[Beginning] = None) -> Any:
        trainer = ClassifierTrainer(config_of(encoder, seed), self.encoder, Run(self.runs, device="cpu"), begin)
        return trainer.new_network(self.dev)

    def language(self, encoder: str, seed: int) -> tuple[Any, Any, Any]:
        """Return the network, its objective and its batches."""
        config = LANGUAGE_PRESETS["transformer"].with_fields(
            encoder=encoder.lower(), max_length=self.encoder.max_length, seed=seed
        )
        masker = Masker.of(0.15, self.encoder)
        objective = MaskedObjective(MaskedBatches(self.few, masker, 128), self.device, seed)
        network = new_network(config, objective)
        return network, objective, MaskedBatches(self.tokens, masker, 128)

    def seconds_per_step(self) -> dict[str, float]:
        """Return the seconds of processor time of one step, {encoder stage: seconds}, as the first call measured them."""
        path = self.runs / "rates.json"
        if not path.is_file():
            found = {}
            for encoder in ENCODERS:
                network, objective = self.classifier(encoder, 0), LabelsObjective(self.dev, self.device)
                for stage, batches in (("labels", self.batches), ("stars", self.stars)):
                    found[f"{encoder} {stage}"] = timed(network, objective, batches)
                found[f"{encoder} masked"] = timed(*self.language(encoder, 0))
            path.write_text(json.dumps(found, indent=1))
        rates: dict[str, float] = json.loads(path.read_text())
        return rates

    def run(self, row: str, seed: int, seconds: float) -> dict[str, Any]:
        """Train a row; return its accuracy on the dev part and on the official test file, and its steps by stage."""
        encoder, beginning = ROWS[row]
        rates = self.seconds_per_step()
        steps = {
            stage: round(share * seconds / rates[f"{encoder} {stage}"])
            for stage, share in BEGINNINGS[beginning].items()
        }
        network, rate = None, FIRST_RATE[encoder]
        for stage, number in steps.items():
            folder = self.runs / f"{row}-{seed}-{stage}".replace(" ", "-").replace(":", "").replace(",", "")
            if stage == "masked":
                network = self.begun(encoder, seed, number, folder)
            else:
                network = network or self.classifier(encoder, seed)
                self.train(network, stage, seed, number, rate, folder)
            rate = RATE
        figures: dict[str, Any] = {"steps": steps}
        for name, part in (("dev", self.dev), ("test", self.test)):
            probability = predict_batches(network, part, self.device)[0]
            figures[name] = headline(part.labels.astype(int), probability)["accuracy"]
        return figures

    def begun(self, encoder: str, seed: int, steps: int, folder: Path) -> Any:
        """Return a classifier that begins with a language model, which so many steps train."""
        model, objective, batches = self.language(encoder, seed)
        rate = LANGUAGE_PRESETS["transformer"].training.learning_rate
        stage = Stage("masked", objective, Steps(batches, steps), 1, rate)
        Run(folder).fit(model, stage, config_of(encoder, seed).training)
        arrays, ids = snapshot(model), self.encoder.token_to_idx
        begin = partial(init_from_language_model, arrays=arrays, codec=self.encoder, token_to_idx=ids)
        return self.classifier(encoder, seed, begin)

    def train(self, network: Any, stage: str, seed: int, steps: int, rate: float, folder: Path) -> None:
        """Train a classifier on the stars or on the labels; of these the best of EPOCHS moments is kept."""
        epochs, batches = (EPOCHS, self.batches) if stage == "labels" else (1, self.stars)
        objective = LabelsObjective(self.dev, self.device)
        parts = Stage(stage, objective, Steps(batches, steps // epochs), epochs, rate, EPOCHS)
        Run(folder).fit(network, parts, config_of("GRU", seed).training)


def config_of(encoder: str, seed: int) -> Config:
    base = PRESETS["extended"].with_fields(ngram_buckets=0, erasure_reviews=0, vocab_size=8000)
    return base.with_fields(seed=seed, **ENCODERS[encoder])


def timed(network: Any, objective: Any, batches: Any) -> float:
    trainer, started = make_trainer(network, 1e-9), 0.0
    for number, batch in enumerate(islice(batches.epoch(0, 0), WARM + TIMED)):
        if number == WARM:
            started = time.process_time()
        train_step(network, trainer, objective, batch, 1.0)
    return (time.process_time() - started) / TIMED


def main(runs: Path, minutes: float, seeds: list[int], rows: list[str]) -> None:
    runs.mkdir(parents=True, exist_ok=True)
    path = runs / "results.jsonl"
    missing = [(row, seed) for seed in seeds for row in rows if (row, seed) not in results(path)]
    if missing:
        comparison = Comparison(runs)
        for row, seed in missing:
            figures = comparison.run(row, seed, 60 * minutes)
            with path.open("a") as file:
                file.write(json.dumps({"row": row, "seed": seed, "minutes": minutes, **figures}) + "\n")
    print("| training | steps | dev | official test file | seeds |\n|---|---|---|---|---|")
    for row in ROWS:
        found = [each for (name, _), each in results(path).items() if name == row]
        if found:
            steps = ", ".join(f"{number:,} {stage}" for stage, number in found[0]["steps"].items())
            print(f"| {row} | {steps} | {spread(found, 'dev')} | {spread(found, 'test')} | {len(found)} |")


def results(path: Path) -> dict[tuple[str, int], dict[str, Any]]:
    lines = map(json.loads, path.read_text().splitlines()) if path.is_file() else []
    return {(each["row"], each["seed"]): each for each in lines}


def spread(found: list[dict[str, Any]], name: str) -> str:
    values = 100 * numpy.array([each[name] for each in found])
    return f"{values.mean():.2f}" + (f" ± {values.std(ddof=1):.2f}" if len(values) > 1 else "")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path)
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=ROWS)
    main(**vars(parser.parse_args()))
