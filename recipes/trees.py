"""trees.json of `restore`, the boosted trees that decide which letters and spaces change (systems/restore/trees.py).

    NSMC_ATTENTION_DATA=... OMP_NUM_THREADS=1 python -m recipes.trees FOLDER/typed.txt val.tsv [--bundle BUNDLE] [--check]

They are fitted to the changes that an editor would make: in raw reviews and comments of KOTE (val.tsv) where they were judged by
eye; in the half "dev" of benchmarks/restoration/right.tsv, as typed and corrected; in `written/` and typed.txt
(`recipes.clean_reviews --as-typed`), where none is right; and in all but those as typed with one more error (of a letter or a
space), where the change at its place is right if it takes the error away. unread_letters.tsv and unread_spaces.tsv have the text
of a judged change (a review, or kote- and a comment), the number of the letter (or of that before the space), what the editor
would write, whether it is right, and how many such changes it stands for. --check prints the log-odds that few right reviews of
"dev" exceed, by trees that were fitted without their texts, and how many of the right changes do.
"""

import argparse
import json
import resource
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.restoration.one_error import ERRORS
from benchmarks.restoration.restoring import SHORT
from benchmarks.restoration.right import right_texts
from nsmc_attention.corpora import nsmc, raw
from nsmc_attention.machine.files import read_rows
from nsmc_attention.systems.restore import correctors, trees
from nsmc_attention.systems.restore import restorer as restoring
from nsmc_attention.systems.restore.as_typed import WEIGHTS, Decisions, evidence, is_telling, read_as
from nsmc_attention.systems.restore.correctors import Draft, Run, evidence_of_letters, tags_of
from nsmc_attention.systems.restore.junctions import hash_of
from nsmc_attention.systems.restore.noise import KINDS, edited, edits, other_letters, slipped, typed
from nsmc_attention.systems.sequences.characters import END, SPACE
from nsmc_attention.text.encoding import clean

from .other_words import dictionary_words, exchanged

HERE = Path(__file__).parent
TREES, COMMENT = Path(trees.__file__).with_suffix(".json"), "kote-"
# Sentences that the editor was not trained on
UNREAD = "boundaries.txt", "registers.txt"
# How often a change counts, of a letter and of a space; the most that a judged one does
LETTERS = {"judged": 1.0, "right": 8.0, "wrong": 2.0, "unread": 6.0, "written": 3.0, "clean": 1.5, "other words": 1.5}
LETTERS |= {"error, judged": 0.2, "error, right": 1.5, "error, unread": 0.5, "error, written": 0.5, "error, clean": 0.5}
LETTERS |= {"error, other words": 0.3, "typed": 1.0, "slipped": 0.5, "typed, other words": 0.5, "joined": 1.0}
SPACES = {"judged": 1.0, "right": 8.0, "wrong": 2.0, "unread": 6.0, "written": 3.0, "clean": 2.0, "other words": 2.0}
SPACES |= {
    "space, right": 0.3,
    "space, unread": 0.3,
    "space, written": 0.1,
    "space, clean": 0.1,
    "space, other words": 0.1,
}
SPACES |= {"typed": 0.1, "slipped": 0.2}
TIMES, MOST = {"letter": LETTERS, "added": SPACES, "removed": SPACES}, 8.0
# Errors that are put into a text where these are few; sentences that get errors, that
# lose all spaces, and of reviews that are typed with noise
ERRORS_OF_TEXT, FEW, SPOILT, JOINED = 4, 5000, 30_000, 40_000
NOISY = {"typed": (typed, 20_000), "slipped": (slipped, 12_000)}
# The features of which the log-odds never fall, trees and leaves of each kind
RISING = {"letter": (0, 1), "added": (0, 2), "removed": (0, 2)}
SIZES = {"letter": (200, 12), "added": (100, 8), "removed": (100, 8)}
FOLDS, SEED = 5, 7
SETTINGS: dict[str, Any] = {"learning_rate": 0.07, "min_samples_leaf": 30, "l2_regularization": 20, "random_state": 0}
# A quarter of the errors are of everyday life, each drawn as often as in the reviews of "dev" with errors, the others of any kind
HEARD = {
    "finals": dict(zip("ㅎㅊㅌㅋㅍㄲ", "ㅅㅅㅅㄱㅂㄱ")),
    "vowels": dict(zip("ㅓㅕㅡㅜㅗㅣㅔㅏㅑㅠㅛㅙ", "ㅕㅓㅜㅡㅜㅢㅣㅓㅏㅜㅗㅐ")),
}
ALL = {**KINDS, **{f"heard_{part}": other_letters(**{part: letters}) for part, letters in HEARD.items()}}
EVERYDAY = {"finals": 30, "vowels": 16, "confused_words": 8, "liaison": 6, "shift_key": 8, "neighbouring_keys": 8}
EVERYDAY |= {"tensed": 5, "plain_vowels": 5, "mistakes": 4, "exchanged_syllables": 2}
EVERYDAY |= {"heard_finals": 4, "heard_vowels": 11}
DRAWN = (EVERYDAY, *[dict.fromkeys(ERRORS["letter"], 1)] * 3)


class Change(NamedTuple):
    """A change that the editor would make: its kind, what its text is of and the text as it is meant, the number of the first
    letter (or of that before the space), the letters that stood there, the tags and what they write, its evidence, whether it is
    right, and how many it stands for."""

    kind: str
    source: str
    text: str
    place: int
    letters: str
    tags: Sequence[int]
    written: str
    evidence: Any
    is_right: bool = False
    number: float = 1.0

    @property
    def whole(self) -> str:
        """The letters of the text after this change of letters alone."""
        typed = self.text.replace(SPACE, "")
        return typed[: self.place] + self.written + typed[self.place + len(self.letters) :]


def changes(editor: restoring.Restorer, source: str, texts: Iterable[str]) -> Iterator[list[Change]]:
    """Yield the changes of an editor to each of the texts; those of spaces only where these tell how their writer sets them."""
    found, spaces, texts = defaultdict[str, list[Change]](list), dict[str, list[Change]](), list(texts)

    def remember(draft: Draft, runs: Sequence[Run]) -> Any:
        rows = evidence_of_letters(draft, runs)
        for (first, last, begin, _), values in zip(runs, rows):
            number = int(numpy.searchsorted(draft.ends, first, "right"))
            text, letters = draft.texts[number], draft.letters[number][first - begin : last - begin]
            tags = draft.tags[first:last].tolist()
            written = "".join(editor.characters.character(tag) if tag > END else "" for tag in tags)
            found[text].append(Change("letter", source, text, first - begin, letters, tags, written, values))
        return rows

    def keep(text: str, decided: Decisions) -> Decisions:
        spaces[text] = [
            Change(kind, source, text, number, "", [], kind, numpy.array(values, "float64"))
            for number, kind, values in (evidence(text, decided) if is_telling(text) else [])
            if kind != "letter"
        ]
        return decided

    # the restorer returns neither its drafts nor its decisions
    with patch.object(correctors, "evidence_of_letters", remember), patch.object(restoring, "keep_right_text", keep):
        editor.rows(texts)
    yield from ([*found.get(read_as(text), []), *spaces.get(text, [])] for text in texts)


def judged(editor: restoring.Restorer, comments: Path) -> Iterator[Change]:
    """Yield the changes that were judged by eye."""
    frame = raw.load(raw.find(None), [nsmc.load("nsmc", "test").frame]).frame
    texts = dict(zip(map(str, frame["id"]), frame["document"]))
    for line in comments.read_text(encoding="utf-8").splitlines():
        number, text, *_ = line.split("\t")
        texts[COMMENT + number] = text
    rights: dict[str, dict[tuple[int, str], tuple[bool, float]]] = defaultdict(dict)
    rows = [*read_rows(HERE / "unread_letters.tsv"), *read_rows(HERE / "letters.tsv")]
    for row in [*rows, *read_rows(HERE / "unread_spaces.tsv")]:
        key = int(row["place"]), row.get("written") or row["kind"]
        rights[clean(texts[row["id"]])].setdefault(key, (row["right"] == "1", float(row.get("weight") or 1)))
    for text, own in zip(rights, changes(editor, "judged", rights)):
        for change in own:
            known = (rights[text].get(key) for key in keys_of(change))
            if found := next(filter(None, known), None):
                yield change._replace(text=text, is_right=found[0], number=min(found[1], MOST))


def keys_of(change: Change) -> Iterator[tuple[int, str]]:
    """Yield the places and what is written there by which a judged change is known: that of any of its letters."""
    if change.kind in ("added", "removed"):
        yield change.place, change.kind
    else:
        yield from enumerate(change.written.ljust(len(change.letters), "-"), change.place)


def misspelt(editor: restoring.Restorer, source: str, pairs: Sequence[tuple[str, str]]) -> Iterator[Change]:
    """Yield the changes to the first of each (text, the same as it was meant)."""
    for (text, meant), own in zip(pairs, changes(editor, source, [text for text, _ in pairs])):
        tags, follows = tags_of(text, meant, editor.characters)
        for change in own:
            is_right = follows[change.place] == (change.kind == "added")
            if change.kind == "letter":
                is_right = tags[change.place :][: len(change.tags)] == change.tags
            yield change._replace(text=meant, is_right=is_right)


def spoilt(editor: restoring.Restorer, source: str, texts: Sequence[str], times: int) -> Iterator[Change]:
    """Yield the changes of letters at the place of an error of a letter that is put into each text so many times."""
    random, places, sources = numpy.random.RandomState(SEED), list[tuple[str, int, int]](), list[str]()
    short = [text for text in texts if SHORT[0] <= len(text) <= SHORT[1]]
    for number, text in enumerate(short * times):
        shares = DRAWN[number % len(DRAWN)]
        weights = numpy.array([*shares.values()]) / sum(shares.values())
        for kind in random.choice([*shares], 8, p=weights):
            if found := list(edits(text, ALL[kind])):
                edit = found[random.randint(len(found))]
                begin = len(text[: edit.start].replace(SPACE, ""))
                places.append((text, begin, begin + len(edit.replacement.replace(SPACE, ""))))
                sources.append(edited(text, [edit]))
                break
    for (text, begin, end), own in zip(places, changes(editor, source, sources)):
        for change in own:
            if change.kind == "letter" and change.place < end and begin < change.place + len(change.letters):
                yield change._replace(text=text, is_right=change.whole == text.replace(SPACE, ""))


def wrongly_spaced(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each text with a space lost or one added, in turn, and as it was."""
    random = numpy.random.RandomState(SEED)
    for number, text in enumerate(texts):
        found = list(edits(text, KINDS[("lost_spaces", "added_spaces")[number % 2]]))
        if found and len(text) > SHORT[0]:
            yield edited(text, [found[random.randint(len(found))]]), text


def all_changes(editor: restoring.Restorer, sentences: Path, comments: Path) -> Iterator[Change]:
    """Yield the changes that the trees are fitted to."""
    dev = [pair for (half, _), pairs in right_texts().items() if half == "dev" for pair in pairs]
    texts = {"right": [text for _, text in dev]}
    yield from misspelt(editor, "wrong", [pair for pair in dev if pair[0] != pair[1]])
    by_eye = [*judged(editor, comments)]
    yield from by_eye
    yield from spoilt(editor, "error, judged", [*dict.fromkeys(each.text for each in by_eye)], ERRORS_OF_TEXT)
    for file in sorted(HERE.glob("written/*")):
        texts.setdefault("unread" if file.name in UNREAD else "written", []).extend(
            file.read_text("utf-8").splitlines()
        )
    clean_texts = sentences.read_text("utf-8").splitlines()
    Random(SEED).shuffle(clean_texts)
    words, generator = dictionary_words(), Random(SEED)
    # names and other words that are seldom found in reviews
    others = filter(None, (exchanged(text, words, generator) for text in clean_texts[:SPOILT]))
    texts |= {"clean": clean_texts, "other words": [*others]}
    random = numpy.random.RandomState(SEED)
    for source, (noise, number) in NOISY.items():
        yield from misspelt(editor, source, [(noise(text, random), text) for text in clean_texts[-number:]])
    noisy = [(typed(text, random), text) for text in texts["other words"][:FEW]]
    yield from misspelt(editor, "typed, other words", noisy)
    whole = [*clean_texts, *filter(None, texts["written"])]
    yield from misspelt(editor, "joined", [(text.replace(SPACE, ""), text) for text in whole[:JOINED]])
    for source, own in texts.items():
        own = [*filter(None, own)]
        times = ERRORS_OF_TEXT if len(own) < FEW else 1
        yield from misspelt(editor, source, [(text, text) for text in own])
        yield from spoilt(editor, f"error, {source}", own[:SPOILT:3] if source == "written" else own[:SPOILT], times)
        yield from misspelt(editor, f"space, {source}", [*wrongly_spaced(own[:SPOILT] * times)])


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


def sample_of(changes: Iterable[Change], kind: str) -> Sample:
    """Return the changes of a kind that have a weight."""
    own = [each for each in changes if each.kind == kind and each.source in TIMES[kind]]
    texts = numpy.array([hash_of(each.text) for each in own])
    return Sample(
        numpy.array([each.evidence for each in own]),
        numpy.array([each.is_right for each in own]),
        numpy.array([each.number * TIMES[kind][each.source] for each in own]),
        numpy.array([each.source for each in own]),
        texts,
        texts % FOLDS,
    )


def fit(sample: Sample, kind: str) -> HistGradientBoostingClassifier:
    """Return the fitted model, whose log-odds never fall if those of the editor rise."""
    (number, leaves), rising = SIZES[kind], numpy.zeros(sample.rows.shape[1], int)
    rising[[*RISING[kind]]] = 1
    model = HistGradientBoostingClassifier(
        max_iter=number, max_leaf_nodes=leaves, monotonic_cst=rising, early_stopping=False, **SETTINGS
    )
    return model.fit(sample.rows, sample.is_right, sample_weight=sample.weights)


def leaves_of(nodes: Any, number: int = 0, path: Sequence[tuple[int, int]] = ()) -> Iterator[tuple[float, Any]]:
    """Yield the value of each leaf below a node, and the conditions that lead to it: their nodes, and 1 or -1 (see Trees)."""
    node = nodes[number]
    if node["is_leaf"]:
        yield float(node["value"]), path
        return
    for child, side in (("left", 1), ("right", -1)):
        yield from leaves_of(nodes, int(node[child]), (*path, (number, side)))


def stored(model: HistGradientBoostingClassifier, leaves: int) -> dict[str, Any]:
    """Return the values of `trees.Trees` but `lengths`."""
    number = len(model._predictors)
    features, paths = numpy.zeros((number, leaves - 1), "i8"), numpy.zeros((number, leaves - 1, leaves), "i8")
    thresholds, values = numpy.zeros((number, leaves - 1)), numpy.zeros((number, leaves))
    for number, (tree,) in enumerate(model._predictors):
        conditions = numpy.flatnonzero(tree.nodes["is_leaf"] == 0).tolist()
        features[number, : len(conditions)] = tree.nodes[conditions]["feature_idx"]
        thresholds[number, : len(conditions)] = tree.nodes[conditions]["num_threshold"].round(4)
        for leaf, (value, path) in enumerate(leaves_of(tree.nodes)):
            values[number, leaf] = round(value, 4)
            for node, side in path:
                paths[number, conditions.index(node), leaf] = side
    arrays = {"features": features, "thresholds": thresholds, "paths": paths, "values": values}
    constant = float(model._baseline_prediction.item())
    return {"constant": constant, **{name: array.tolist() for name, array in arrays.items()}}


def unread_odds(sample: Sample, kind: str) -> Any:
    """Return the log-odds of each change by trees that were fitted without its text; of spaces the least of these and WEIGHTS'."""
    odds = numpy.zeros(len(sample.rows))
    for fold in range(FOLDS):
        own = sample.folds == fold
        odds[own] = fit(sample.part(~own), kind).decision_function(sample.part(own).rows)
    if kind in WEIGHTS:
        constant, *weights = WEIGHTS[kind]
        odds = numpy.minimum(odds, constant + sample.rows[:, : len(weights)] @ weights)
    return odds


def check(sample: Sample, kind: str) -> None:
    """Print the log-odds that 0 to 3 right reviews of "dev" exceed, and of each source how many of its changes do."""
    odds, wrong = unread_odds(sample, kind), numpy.flatnonzero(sample.sources == "right")
    largest = dict(sorted(zip(sample.texts[wrong].tolist(), odds[wrong].tolist()), key=lambda pair: pair[1]))
    for least in sorted(largest.values())[:-5:-1]:
        cells = [f"{kind} above {least:.2f}"]
        for source in TIMES[kind]:
            for is_right in (True, False):
                own = (sample.sources == source) & (sample.is_right == is_right)
                weights = sample.weights[own] / TIMES[kind][source]
                made = float(weights[odds[own] > least].sum())
                if own.any():
                    cells.append(f"{source} {100 * made / weights.sum():.1f} %" if is_right else f"wrong: {made:.0f}")
        print(", ".join(cells), flush=True)


def main(sentences: Path, comments: Path, bundle: str | None, checked: bool) -> None:
    begun, editor = time.process_time(), restoring.load_restorer(bundle)
    editor.engine.threads = 1
    found, content = [*all_changes(editor, sentences, comments)], dict[str, Any]()
    for kind in TIMES:
        sample = sample_of(found, kind)
        counts = Counter(zip(sample.sources.tolist(), sample.is_right.tolist()))
        print(kind, {source: (counts[source, True], counts[source, False]) for source in TIMES[kind]}, flush=True)
        if checked:
            check(sample, kind)
        content[kind] = stored(fit(sample, kind), SIZES[kind][1])
    TREES.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")
    spent, most = time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{spent:.0f} s of processor time, at most {most:.1f} GiB of memory; {TREES.stat().st_size:,} bytes")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("sentences", type=Path)
    parser.add_argument("comments", type=Path)
    parser.add_argument("--bundle")
    parser.add_argument("--check", action="store_true", dest="checked")
    main(**vars(parser.parse_args()))
