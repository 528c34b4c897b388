"""usage.json of `restore`, which describes how people type, and the weights of its regressions (systems/restore/as_typed.py).

    NSMC_ATTENTION_DATA=... OMP_NUM_THREADS=1 python -m recipes.usage SENTENCES.txt [--bundle BUNDLE] [--counts]

--counts makes usage.json anew, from the raw star reviews with a space for every seven letters, except those of the official
test file and of benchmarks/restoration/right.tsv. It has regressions on the spaces as they were typed, and counts of three
letters. The weights are fitted to the changes of an editor in clean sentences with noise (a change is correct if it restores the
sentence), on which it should not have been trained, and in the half "dev" of right.tsv (no change is correct; SHARE is its total
weight). The script prints the weights, and the log-odds from which a change is likely: in cross-validation, MOST_CHANGED texts
of "dev" have a likelier change of this kind. For those of letters, see recipes/trees.py.
"""

import argparse
import json
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.restoration.noise import UNTRAINED
from benchmarks.restoration.one_error import ERRORS
from benchmarks.restoration.restoring import SHORT
from benchmarks.restoration.right import RIGHT, right_texts
from nsmc_attention.corpora import nsmc, raw
from nsmc_attention.machine.files import read_rows
from nsmc_attention.systems.restore import as_typed as weighing
from nsmc_attention.systems.restore import restorer as restoring
from nsmc_attention.systems.restore.as_typed import SCALE, SPARSE, TRIGRAM, WEIGHTS, Decisions, evidence
from nsmc_attention.systems.restore.as_typed import SHORT_TEXT as FEW
from nsmc_attention.systems.restore.correctors import tags_of
from nsmc_attention.systems.restore.junctions import Junctions, hash_of
from nsmc_attention.systems.restore.noise import KINDS, edited, edits, slipped, typed
from nsmc_attention.systems.sequences.characters import SPACE, split_spaces
from nsmc_attention.text.encoding import clean

from .junctions import fitted

FILE = Path(weighing.__file__).with_name("usage.json")
# Minimum count of three letters; number of noisy sentences; folds of the cross-validation; the most texts of "dev" that are changed
FEWEST, SENTENCES, FOLDS = 30, 12_000, 5
MOST_CHANGED = {"added": 3, "removed": 0}
# Total weight of the changes to correct texts, relative to the others; C of scikit-learn
SHARE, PENALTY = 0.3, 0.3
SEED = 7


class Change(NamedTuple):
    """A change of a space that the editor would make: the number of its text, its kind, its evidence, whether it is right."""

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


def changes(editor: restoring.Restorer, sources: Sequence[str], targets: Sequence[str]) -> Iterator[Change]:
    """Yield the changes of spaces of an editor to the sources that have spaces."""
    decisions = dict[str, Decisions]()

    def remember(text: str, decided: Decisions) -> Decisions:
        decisions[text] = decided
        return decided

    # the restorer does not return its decisions
    with patch.object(restoring, "keep_right_text", remember):
        restored = editor.rows(sources)
    for number, (source, target, (text, _)) in enumerate(zip(sources, targets, restored)):
        if not has_spaces(source):
            continue
        decided = decisions.get(source)
        # letters that are exchanged have several alignments, all of which are right
        if text == target and decided:
            spaces = decided.has_space.tolist()
        else:
            _, spaces = tags_of(source, target, editor.characters)
        for place, kind, values in evidence(source, decided) if decided else []:
            if decided and kind != "letter":
                weighed = values[: len(WEIGHTS[kind]) - 1]
                yield Change(number, kind, weighed, bool(spaces[place] == decided.has_space[place]))


def noisy(path: Path) -> tuple[list[str], list[str]]:
    """Return (sources, targets): a wrong letter, two misspellings at most, the noise of training, or other noise."""
    random = numpy.random.RandomState(SEED)
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if SHORT[0] <= len(line) <= SHORT[1]]
    targets = [lines[number] for number in random.permutation(len(lines))[:SENTENCES]]
    ways: list[Callable[..., str]] = [
        wrong_letter,
        wrong_letter,
        slipped,
        slipped,
        typed,
        partial(typed, most=UNTRAINED),
    ]
    return [ways[number % len(ways)](text, random) for number, text in enumerate(targets)], targets


def wrong_letter(text: str, random: numpy.random.RandomState) -> str:
    """Return the text with an error of a kind that is drawn, as `benchmarks.restoration.one_error` has it."""
    found = list(edits(text, KINDS[ERRORS["letter"][random.randint(len(ERRORS["letter"]))]]))
    return edited(text, [found[random.randint(len(found))]]) if found else text


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


def log_odds(weights: Sequence[float], change: Change) -> float:
    return float(numpy.dot(weights, [1.0, *change.evidence]))


def least_likely(right: Sequence[Change], others: Sequence[Change], kind: str) -> float:
    """Return the log-odds above which MOST_CHANGED of the right texts have a change of a kind, by weights fitted without them."""
    found = dict[int, float]()
    for fold in range(FOLDS):
        weights = weights_of([each for each in right if each.text % FOLDS != fold], others, kind)
        for change in right:
            if change.kind == kind and change.text % FOLDS == fold:
                found[change.text] = max(log_odds(weights, change), found.get(change.text, -numpy.inf))
    return sorted(found.values())[-1 - MOST_CHANGED[kind]]


def main(sentences: Path, bundle: str | None, counts: bool) -> None:
    begun, editor = time.process_time(), restoring.load_restorer(bundle)
    if counts:
        FILE.write_text(json.dumps(usage_of(reviews()).to_dict()) + "\n", encoding="utf-8")
        weighing.usage.cache_clear()
    dev = [text for (half, _), pairs in right_texts().items() if half == "dev" for _, text in pairs]
    right, others = list(changes(editor, dev, dev)), list(changes(editor, *noisy(sentences)))
    for kind in WEIGHTS:
        weights = tuple(round(weight, 2) for weight in weights_of(right, others, kind))
        print(f'"{kind}": {weights}, likely from {least_likely(right, others, kind):.2f}')
    spent, most = time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{spent:.0f} s of processor time, at most {most:.1f} GiB of memory; {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("sentences", type=Path)
    parser.add_argument("--bundle")
    parser.add_argument("--counts", action="store_true")
    main(**vars(parser.parse_args()))
