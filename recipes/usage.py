"""usage.json of `restore`, which describes how people type, and the weights of its regressions (systems/restore/as_typed.py).

    NSMC_ATTENTION_DATA=... OMP_NUM_THREADS=1 python -m recipes.usage FOLDER/train.txt

usage.json is made from the raw star reviews with a space for every seven letters, except those of the official test file and
of benchmarks/restoration/right.tsv. It has regressions on the spaces as they were typed, and counts of three letters. The
weights are fitted to the changes of the packaged editor in 34,000 clean sentences with noise (a change is correct if it
restores the sentence) and in the half "dev" of right.tsv (no change is correct; SHARE is its total weight). The script
prints the weights, and how many texts of "dev" would be changed for several minimum log-odds (in cross-validation).
"""

import argparse
import json
import resource
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.restoration.noise import UNTRAINED
from benchmarks.restoration.restoring import LONG, SHORT, joined
from benchmarks.restoration.right import RIGHT, right_texts
from nsmc_attention.corpora import nsmc, raw
from nsmc_attention.machine.files import read_rows
from nsmc_attention.systems.restore import as_typed as weighing
from nsmc_attention.systems.restore import restorer as restoring
from nsmc_attention.systems.restore.as_typed import SCALE, SPARSE, TRIGRAM, WEIGHTS, evidence
from nsmc_attention.systems.restore.as_typed import SHORT_TEXT as FEW
from nsmc_attention.systems.restore.correctors import tags_of
from nsmc_attention.systems.restore.decisions import Decisions
from nsmc_attention.systems.restore.junctions import Junctions, hash_of
from nsmc_attention.systems.restore.noise import MOST_NOISE, typed
from nsmc_attention.systems.sequences.characters import SPACE, split_spaces
from nsmc_attention.text.encoding import clean

from .junctions import fitted

FILE = Path(weighing.__file__).with_name("usage.json")
# Minimum count of three letters; numbers of noisy sentences and of joined ones; folds of the cross-validation
FEWEST, SENTENCES, JOINED, FOLDS = 30, 30_000, 4_000, 5
# Total weight of the changes to correct texts, relative to the others; C of scikit-learn
SHARE, PENALTY = 0.3, 0.3
SEED = 7


class Change(NamedTuple):
    """A change that the editor would make: the number of its text, its kind, its evidence, whether it is right."""

    text: int
    kind: str
    evidence: list[float]
    is_right: bool


def reviews() -> list[str]:
    """Return the raw reviews that have spaces, without those that are held out."""
    frame = raw.load(raw.find(None), [nsmc.load("nsmc", "test").frame]).frame
    held_out = {row["id"] for row in read_rows(RIGHT)}
    texts = dict.fromkeys(clean(text) for text in frame["document"][~frame["id"].astype(str).isin(held_out)])
    return [text for text in texts if text and has_spaces(text)]


def has_spaces(text: str) -> bool:
    """Return whether a text has a space for every seven characters, or is short."""
    return text.count(SPACE) * SPARSE + FEW >= len(text.replace("~", ""))


def usage_of(texts: Sequence[str]) -> Junctions:
    """Return the content of usage.json for these reviews."""
    spaces, counts = fitted(map(split_spaces, texts)), Counter[str]()
    for text in texts:
        letters = f"{SPACE}{text.replace(SPACE, '')}{SPACE}"
        counts.update(letters[start : start + TRIGRAM] for start in range(len(letters) - TRIGRAM + 1))
    common = {key: count for key, count in counts.items() if count >= FEWEST}
    logs = {hash_of(key): round(SCALE * float(numpy.log(1 + count))) for key, count in common.items()}
    print(f"{len(texts):,} reviews, {len(spaces.weights):,} weights of spaces, {len(common):,} counts of letters")
    return Junctions.of({**logs, **spaces.by_hash}, spaces.junction, spaces.inside)


def changes(sources: Sequence[str], targets: Sequence[str]) -> Iterator[Change]:
    """Yield the changes of the packaged editor to the sources that have spaces."""
    editor = restoring.load_restorer()
    decisions = dict[str, Decisions]()

    def remember(text: str, decided: Decisions, _: object) -> Decisions:
        decisions[text] = decided
        return decided

    # the restorer does not return its decisions
    with patch.object(restoring, "keep_right_text", remember):
        editor.restore_many(sources)
    for number, (source, target) in enumerate(zip(sources, targets)):
        decided = decisions.get(source)
        if decided is None or not has_spaces(source):
            continue
        tags, spaces = tags_of(source, target, editor.characters) if source != target else ([], [])
        for place, kind, values in evidence(source, decided, editor.characters):
            wanted = place < len(tags) and (
                tags[place] == decided.tags[place] if kind == "letter" else spaces[place] == decided.has_space[place]
            )
            yield Change(number, kind, values, wanted)


def noisy(path: Path) -> Iterator[tuple[list[str], list[str]]]:
    """Yield (sources, targets) with the noise of training and other noise, short and long."""
    random = numpy.random.RandomState(SEED)
    lines = path.read_text(encoding="utf-8").splitlines()
    lines = [lines[number] for number in random.permutation(len(lines))]
    short = [line for line in lines if SHORT[0] <= len(line) <= SHORT[1]]
    for targets in (short[:SENTENCES], [text for text in joined(short[SENTENCES:]) if len(text) <= LONG[1]][:JOINED]):
        yield (
            [typed(text, random, UNTRAINED if number % 2 else MOST_NOISE) for number, text in enumerate(targets)],
            targets,
        )


def weights_of(right: Sequence[Change], others: Sequence[Change], kind: str) -> list[float]:
    """Return the constant and the weights of a kind."""
    share = SHARE * len(others) / len(right)
    own = [(each, weight) for some, weight in ((right, share), (others, 1.0)) for each in some if each.kind == kind]
    model = make_pipeline(StandardScaler(), LogisticRegression(C=PENALTY, max_iter=1000))
    rows: NDArray[numpy.float64] = numpy.array([each.evidence for each, _ in own], "float64")
    model.fit(rows, [each.is_right for each, _ in own], logisticregression__sample_weight=[weight for _, weight in own])
    scaler, regression = model[0], model[-1]
    weights = regression.coef_[0] / scaler.scale_
    return [float(regression.intercept_[0] - weights @ scaler.mean_), *weights.tolist()]


def scores(right: Sequence[Change], others: Sequence[Change], judged: Sequence[Change]) -> dict[int, float]:
    """Return the maximum log-odds of the judged changes of each text."""
    weights = {kind: weights_of(right, others, kind) for kind in WEIGHTS}
    found = dict[int, float]()
    for text, kind, values, _ in judged:
        odds = float(numpy.dot(weights[kind], [1.0, *values]))
        found[text] = max(odds, found.get(text, odds))
    return found


def main(sentences: Path) -> None:
    begun = time.process_time()
    FILE.write_text(json.dumps(usage_of(reviews()).to_dict()) + "\n", encoding="utf-8")
    weighing.usage.cache_clear()
    dev = [text for (half, _), pairs in right_texts().items() if half == "dev" for _, text in pairs]
    right = list(changes(dev, dev))
    others = [change for pair in noisy(sentences) for change in changes(*pair)]
    for kind in WEIGHTS:
        print(f'"{kind}":', tuple(round(weight, 2) for weight in weights_of(right, others, kind)))
    held_out = [
        odds
        for fold in range(FOLDS)
        for odds in scores(
            [each for each in right if each.text % FOLDS != fold],
            others,
            [each for each in right if each.text % FOLDS == fold],
        ).values()
    ]
    for least in numpy.arange(1.5, 3, 0.1):
        print(f"{least:.1f}: {sum(odds >= least for odds in held_out)} of {len(dev)} right texts")
    spent, most = time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{spent:.0f} s of processor time, at most {most:.1f} GiB of memory; {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("sentences", type=Path)
    main(parser.parse_args().sentences)
