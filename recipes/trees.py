"""trees.json of `restore`, the boosted trees that decide which letters change (systems/restore/trees.py).

    NSMC_ATTENTION_DATA=... OMP_NUM_THREADS=1 python -m recipes.trees SENTENCES.txt [--bundle BUNDLE] [--check]

They are fitted to the changes of letters that an editor would make: in SENTENCES.txt (`recipes.clean_reviews --as-typed`) and in
`written/`, as they are (no change is right) and with noise (a change is right if it restores the sentence); in the half "dev" of
benchmarks/restoration/right.tsv, corrected and as typed; and in raw reviews where they were judged by eye: letters.tsv has the
review, the number of the letter, what the editor would write, and whether it is right. --check prints the log-odds that few
right texts exceed, by trees that were fitted without them, and how many of the right changes do.
"""

import argparse
import json
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.restoration.noise import UNTRAINED
from benchmarks.restoration.one_error import ERRORS
from benchmarks.restoration.restoring import SHORT
from benchmarks.restoration.right import right_texts
from nsmc_attention.corpora import nsmc, raw
from nsmc_attention.machine.files import read_rows
from nsmc_attention.systems.restore import as_typed, correctors, trees
from nsmc_attention.systems.restore import restorer as restoring
from nsmc_attention.systems.restore.as_typed import Decisions, read_as
from nsmc_attention.systems.restore.correctors import Draft, evidence_of_letters, runs_of_changes, tags_of
from nsmc_attention.systems.restore.junctions import hash_of
from nsmc_attention.systems.restore.noise import KINDS, Edit, Kind, edited, edits, other_letters, slipped, typed
from nsmc_attention.systems.restore.trees import Trees
from nsmc_attention.systems.sequences.characters import END, KEEP, SPACE
from nsmc_attention.text.encoding import clean

from .other_words import dictionary_words, exchanged

HERE = Path(__file__).parent
JUDGED, TREES = HERE / "letters.tsv", Path(trees.__file__).with_suffix(".json")
# Folds of the cross-validation; how many right texts are changed
FOLDS, CHANGED = 5, {"right": (0, 1, 2, 3), "written": (20, 60), "other words": (20, 60), "judged": (20, 40)}
# How often changes count; once in all other texts
TIMES = {"right": 4, "wrong": 4, "judged": 3, "clean": 2, "written": 2, "typed": 0.5, "untrained": 0.5}
# The leaves of a tree; letters on each side of a change, by which one that was judged is known in a clean sentence
LEAVES, AROUND, SEED = 8, 5, 7
SETTINGS: dict[str, Any] = {"max_iter": 100, "max_leaf_nodes": LEAVES, "min_samples_leaf": 20, "l2_regularization": 5}
# How often each kind is drawn: misspellings of everyday life, as in the reviews of "dev" with errors
HEARD = {
    "finals": dict(zip("ㅎㅊㅌㅋㅍㄲ", "ㅅㅅㅅㄱㅂㄱ")),
    "vowels": dict(zip("ㅓㅕㅡㅜㅗㅣㅔㅏㅑㅠㅛㅙ", "ㅕㅓㅜㅡㅜㅢㅣㅓㅏㅜㅗㅐ")),
}
EVERYDAY = {
    "finals": 30,
    "vowels": 16,
    "confused_words": 8,
    "liaison": 6,
    "shift_key": 8,
    "neighbouring_keys": 8,
    "tensed": 5,
}
EVERYDAY |= {
    "plain_vowels": 5,
    "mistakes": 4,
    "exchanged_syllables": 2,
    "adverbs": 3,
    "heard_finals": 4,
    "heard_vowels": 11,
}
SPACES = {"lost_spaces": 26, "added_spaces": 13, "moved_spaces": 2}


class Change(NamedTuple):
    """A change that the editor would make: its text and what the text is of, its evidence, whether it is right, where it begins
    and the tags of its letters."""

    text: str
    source: str
    evidence: Sequence[float]
    is_right: bool
    place: int = 0
    written: Sequence[int] = ()


def changes(editor: restoring.Restorer, name: str, sources: Sequence[str], targets: Sequence[str]) -> Iterator[Change]:
    """Yield the changes of letters of an editor to the sources."""
    drafts, decisions, weighed = list[Draft](), dict[str, Decisions](), correctors.dictionary_words

    def weigh(draft: Draft) -> Draft:
        drafts.append(draft)
        return weighed(draft)

    def remember(text: str, decided: Decisions) -> Decisions:
        decisions[text] = decided
        return decided

    # the restorer returns neither its decisions nor its drafts
    with patch.object(restoring, "keep_right_text", remember), patch.object(correctors, "dictionary_words", weigh):
        restored = editor.rows(sources)
    letters = {text: [*own] for draft in drafts for text, own in of_draft(draft)}
    for source, target, (text, _) in zip(sources, targets, restored):
        # letters that are exchanged have several alignments, all of which are right
        exact = text == target and source in decisions
        tags = decisions[source].tags.tolist() if exact else tags_of(source, target, editor.characters)[0]
        for place, written, values in letters.get(read_as(source), []):
            yield Change(target, name, values, tags[place : place + len(written)] == written, place, written)


def of_draft(draft: Draft) -> Iterator[tuple[str, Iterator[tuple[int, list[int], Any]]]]:
    """Yield each text that was read, and of its changes of letters the number of the first, the tags and the evidence."""
    runs = [*runs_of_changes(draft.tags != KEEP, draft.ends)]
    found: dict[int, list[tuple[int, list[int], Any]]] = {}
    for (first, last, begin, _), values in zip(runs, evidence_of_letters(draft, runs) if runs else ()):
        own = found.setdefault(int(numpy.searchsorted(draft.ends, first, "right")), [])
        own.append((first - begin, draft.tags[first:last].tolist(), values))
    yield from ((draft.texts[number], iter(own)) for number, own in found.items())


def judged(editor: restoring.Restorer) -> Iterator[Change]:
    """Yield the changes of letters in raw reviews that were judged by eye."""
    frame = raw.load(raw.find(None), [nsmc.load("nsmc", "test").frame]).frame
    texts = dict(zip(map(str, frame["id"]), map(clean, frame["document"])))
    rights = {(texts[row["id"]], int(row["place"]), row["written"]): row["right"] == "1" for row in read_rows(JUDGED)}
    known = list(dict.fromkeys(text for text, *_ in rights))
    for change in changes(editor, "judged", known, known):
        for place, tag in enumerate(change.written, change.place):
            key = change.text, place, editor.characters.character(tag) if tag > END else "-"
            if key in rights:
                yield change._replace(is_right=rights[key])
                break


def around(change: Change) -> tuple[str, tuple[int, ...]]:
    """Return the letters around a change, and what is written."""
    letters = change.text.replace(SPACE, "")
    return letters[max(0, change.place - AROUND) : change.place + AROUND + 1], tuple(change.written)


def adverbs(text: str, position: int) -> list[Edit]:
    """천천히 as 천천이."""
    is_last = text[position] == "히" and position > 0 and not as_typed.is_syllable((text + SPACE)[position + 1])
    return [Edit(position, position + 1, "이")] if is_last else []


NEW: dict[str, Kind] = {f"heard_{part}": other_letters(**{part: letters}) for part, letters in HEARD.items()}
ALL = {**KINDS, **NEW, "adverbs": adverbs}
Noise = Callable[[str, numpy.random.RandomState], str]


def drawn(shares: dict[str, int], most: int = 8) -> Noise:
    """Return the noise that makes one misspelling, of a kind that is drawn by its share."""
    kinds, weights = list(shares), numpy.array([*shares.values()]) / sum(shares.values())

    def noise(text: str, random: numpy.random.RandomState) -> str:
        for kind in random.choice(kinds, most, p=weights):
            if possible := list(edits(text, ALL[kind])):
                return edited(text, [possible[random.randint(len(possible))]])
        return text

    return noise


def all_changes(editor: restoring.Restorer, path: Path) -> Iterator[Change]:
    """Yield the changes that the trees are fitted to."""
    random, letter, space = numpy.random.RandomState(SEED), drawn(EVERYDAY), drawn(SPACES)
    dev = [pair for (half, _), pairs in right_texts().items() if half == "dev" for pair in pairs]
    right = [text for _, text in dev]
    yield from changes(editor, "right", right, right)
    yield from changes(editor, "wrong", *map(list, zip(*(pair for pair in dev if pair[0] != pair[1]))))
    by_eye = [*judged(editor)]
    yield from by_eye
    errors = {around(change) for change in by_eye if change.is_right}
    written = list(
        dict.fromkeys(chain.from_iterable(file.read_text("utf-8").split("\n") for file in HERE.glob("written/*")))
    )
    whole = [line for line in path.read_text("utf-8").splitlines() if SHORT[0] <= len(line) <= SHORT[1]]
    words, generator = dictionary_words(), Random(SEED)
    # names and other words that are seldom found in reviews
    other = list(filter(None, (exchanged(text, words, generator) for text in whole)))
    for name, texts in (("written", list(filter(None, written))), ("clean", whole), ("other words", other)):
        for change in changes(editor, name, texts, texts):
            # some clean sentences have errors after all
            if around(change) not in errors:
                yield change
    noises: list[tuple[str, Noise, list[str], int]] = [
        ("one letter", drawn(dict.fromkeys(ERRORS["letter"], 1)), whole, 9000),
        ("everyday", letter, whole, 6000),
        ("typed", typed, whole, 10_000),
        ("slipped", slipped, whole, 6000),
        ("untrained", lambda text, random: typed(text, random, UNTRAINED), whole, 3000),
        ("everyday, other words", letter, other, 5000),
        ("everyday, written", letter, written, 9000),
        ("two, written", lambda text, random: space(letter(text, random), random), written, 2500),
    ]
    for name, noise, texts, most in noises:
        long = [text for text in texts if SHORT[0] <= len(text) <= SHORT[1]]
        targets = [long[number] for number in random.permutation(len(long))[:most]]
        yield from changes(editor, name, [noise(text, random) for text in targets], targets)


class Sample(NamedTuple):
    """The evidence of N changes (N, F), whether they are right, their weights, what they are of, their texts, and their fold."""

    rows: Any
    is_right: Any
    weights: Any
    sources: Any
    texts: Any
    folds: Any

    def part(self, own: Any) -> "Sample":
        return Sample._make(each[own] for each in self)


def sample_of(changes: Sequence[Change]) -> Sample:
    columns = zip(
        *(
            (each.evidence, each.is_right, TIMES.get(each.source, 1), each.source, hash_of(each.text))
            for each in changes
        )
    )
    rows, is_right, weights, sources, texts = map(numpy.array, columns)
    return Sample(rows.astype("float64"), is_right, weights, sources, texts, texts % FOLDS)


def fit(sample: Sample) -> HistGradientBoostingClassifier:
    """Return the fitted model, whose log-odds never fall if those of the editor rise."""
    rising = [1] + [0] * (sample.rows.shape[1] - 1)
    model = HistGradientBoostingClassifier(monotonic_cst=rising, early_stopping=False, random_state=0, **SETTINGS)
    return model.fit(sample.rows, sample.is_right, sample_weight=sample.weights)


def leaves(nodes: Any, number: int = 0, path: Sequence[tuple[int, int]] = ()) -> Iterator[tuple[float, Any]]:
    """Yield the value of each leaf below a node, and the conditions that lead to it: their nodes, and 1 or -1 (see Trees)."""
    node = nodes[number]
    if node["is_leaf"]:
        yield float(node["value"]), path
        return
    for child, side in (("left", 1), ("right", -1)):
        yield from leaves(nodes, int(node[child]), (*path, (number, side)))


def stored(model: HistGradientBoostingClassifier) -> dict[str, Any]:
    """Return the values of `trees.Trees`."""
    number = len(model._predictors)
    features, paths = numpy.zeros((number, LEAVES - 1), "i8"), numpy.zeros((number, LEAVES - 1, LEAVES), "i8")
    thresholds, values = numpy.zeros((number, LEAVES - 1)), numpy.zeros((number, LEAVES))
    for number, (tree,) in enumerate(model._predictors):
        conditions = numpy.flatnonzero(tree.nodes["is_leaf"] == 0).tolist()
        features[number, : len(conditions)] = tree.nodes[conditions]["feature_idx"]
        thresholds[number, : len(conditions)] = tree.nodes[conditions]["num_threshold"].round(4)
        for leaf, (value, path) in enumerate(leaves(tree.nodes)):
            values[number, leaf] = round(value, 4)
            for node, side in path:
                paths[number, conditions.index(node), leaf] = side
    arrays = features, thresholds, paths, values
    return dict(zip(Trees._fields, (float(model._baseline_prediction.item()), *(array.tolist() for array in arrays))))


def check(sample: Sample) -> None:
    """Print the share of right changes above log-odds that few right texts exceed."""
    odds = numpy.zeros(len(sample.rows))
    for fold in range(FOLDS):
        own = sample.folds == fold
        odds[own] = fit(sample.part(~own)).decision_function(sample.part(own).rows)

    def likeliest(source: str) -> Any:
        own, found = (sample.sources == source) & ~sample.is_right, dict[int, float]()
        for text, value in zip(sample.texts[own].tolist(), odds[own].tolist()):
            found[text] = max(value, found.get(text, -numpy.inf))
        return numpy.array(sorted(found.values(), reverse=True))

    for source, most in CHANGED.items():
        for number in most if len(likeliest(source)) > max(most) else ():
            least = likeliest(source)[number]
            groups = {name: (sample.sources == name) & sample.is_right for name in sorted(set(sample.sources.tolist()))}
            shares = ", ".join(
                f"{name} {100 * (odds[own] > least).mean():.1f}" for name, own in groups.items() if own.any()
            )
            print(f"{source} {number}: {least:.2f}: {shares}")


def main(sentences: Path, bundle: str | None, checked: bool) -> None:
    begun, editor = time.process_time(), restoring.load_restorer(bundle)
    editor.engine.threads = 1
    sample = sample_of([*all_changes(editor, sentences)])
    print(f"{len(sample.rows):,} changes, {100 * sample.is_right.mean():.1f} % right", flush=True)
    if checked:
        check(sample)
    TREES.write_text(json.dumps(stored(fit(sample)), separators=(",", ":")) + "\n", encoding="utf-8")
    spent, most = time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{spent:.0f} s of processor time, at most {most:.1f} GiB of memory; {TREES.stat().st_size:,} bytes")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("sentences", type=Path)
    parser.add_argument("--bundle")
    parser.add_argument("--check", action="store_true", dest="checked")
    main(**vars(parser.parse_args()))
