"""trees.json of `restore`, the boosted trees that decide which letters change (systems/restore/trees.py).

    NSMC_ATTENTION_DATA=... OMP_NUM_THREADS=1 python -m recipes.trees SENTENCES.txt val.tsv [--bundle BUNDLE] [--check]

They are fitted to the changes of letters that an editor would make: in raw reviews and comments of KOTE (val.tsv) where they were
judged by eye; in the half "dev" of benchmarks/restoration/right.tsv, as typed and corrected; in `written/` and SENTENCES.txt
(`recipes.clean_reviews`), where none is right; and in all but those as typed with one more error, where the change at its place is
right if it takes the error away. letters.tsv has the text of a judged change (a review, or kote- and a comment), the number of the
letter, what the editor would write, whether it is right, and how many such changes it stands for. The first 1,440 are of reviews
that the editor may have been trained on, and stand for one each. --check prints the log-odds that few wrong changes exceed, by
trees that were fitted without their texts, and how many of the right ones do.
"""

import argparse
import json
import resource
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
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
from nsmc_attention.systems.restore.as_typed import read_as
from nsmc_attention.systems.restore.correctors import Draft, Run, evidence_of_letters, tags_of
from nsmc_attention.systems.restore.junctions import hash_of
from nsmc_attention.systems.restore.noise import KINDS, edited, edits, other_letters, slipped, typed
from nsmc_attention.systems.restore.trees import Trees
from nsmc_attention.systems.sequences.characters import END, SPACE
from nsmc_attention.text.encoding import clean

from .other_words import dictionary_words, exchanged

HERE = Path(__file__).parent
JUDGED, TREES, COMMENT = HERE / "letters.tsv", Path(trees.__file__).with_suffix(".json"), "kote-"
# Sentences that the editor was not trained on
UNREAD = "boundaries.txt", "registers.txt"
# How often a change counts; the most that a judged one does; errors put into a text where these are not MANY, of most of
# `written/` into each tenth; sentences of reviews
TIMES = {"judged": 1.0, "right": 8.0, "wrong": 2.0, "unread": 6.0, "written": 3.0, "clean": 1.0, "other words": 1.0}
TIMES |= {"error, judged": 0.2, "error, right": 1.5, "error, unread": 0.5, "error, written": 0.5}
TIMES |= {"error, clean": 0.5, "error, other words": 0.3, "typed": 0.5, "slipped": 0.5}
MOST, ERRORS_OF_TEXT, MANY, SOME, SENTENCES, SPOILT = 8.0, 4, 5000, 10, 90_000, 30_000
FOLDS, LEAVES, SEED = 5, 12, 7
SETTINGS: dict[str, Any] = {
    "max_iter": 200,
    "max_leaf_nodes": LEAVES,
    "learning_rate": 0.07,
    "min_samples_leaf": 30,
    "l2_regularization": 20,
}
# A quarter of the errors are of everyday life, each drawn as often as in the reviews of "dev" with errors, the others of any kind
HEARD = {
    "finals": dict(zip("ㅎㅊㅌㅋㅍㄲ", "ㅅㅅㅅㄱㅂㄱ")),
    "vowels": dict(zip("ㅓㅕㅡㅜㅗㅣㅔㅏㅑㅠㅛㅙ", "ㅕㅓㅜㅡㅜㅢㅣㅓㅏㅜㅗㅐ")),
}
ALL = {**KINDS, **{f"heard_{part}": other_letters(**{part: letters}) for part, letters in HEARD.items()}}
EVERYDAY = {"finals": 30, "vowels": 16, "confused_words": 8, "liaison": 6, "shift_key": 8, "neighbouring_keys": 8}
EVERYDAY |= {
    "tensed": 5,
    "plain_vowels": 5,
    "mistakes": 4,
    "exchanged_syllables": 2,
    "heard_finals": 4,
    "heard_vowels": 11,
}
DRAWN = (EVERYDAY, *[dict.fromkeys(ERRORS["letter"], 1)] * 3)


class Change(NamedTuple):
    """A change that the editor would make: what its text is of and the text, the number of the first letter, what stood there,
    its tags and what they write, its evidence, whether it is right, and how many it stands for."""

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
        """The letters of the text after this change alone."""
        typed = self.text.replace(SPACE, "")
        return typed[: self.place] + self.written + typed[self.place + len(self.letters) :]


def changes(editor: restoring.Restorer, source: str, texts: Iterable[str]) -> Iterator[list[Change]]:
    """Yield the changes of letters of an editor to each of the texts."""
    found, texts = defaultdict[str, list[Change]](list), list(texts)

    def remember(draft: Draft, runs: Sequence[Run]) -> Any:
        rows = evidence_of_letters(draft, runs)
        for (first, last, begin, _), values in zip(runs, rows):
            number = int(numpy.searchsorted(draft.ends, first, "right"))
            typed = draft.letters[number]
            tags = draft.tags[first:last].tolist()
            written = "".join(editor.characters.character(tag) if tag > END else "" for tag in tags)
            change = Change(
                source, draft.texts[number], first - begin, typed[first - begin : last - begin], tags, written, values
            )
            found[draft.texts[number]].append(change)
        return rows

    # the restorer returns no drafts
    with patch.object(correctors, "evidence_of_letters", remember):
        editor.rows(texts)
    yield from (found.get(read_as(text), []) for text in texts)


def judged(editor: restoring.Restorer, comments: Path) -> Iterator[Change]:
    """Yield the changes that were judged by eye."""
    frame = raw.load(raw.find(None), [nsmc.load("nsmc", "test").frame]).frame
    texts = dict(zip(map(str, frame["id"]), frame["document"]))
    for line in comments.read_text(encoding="utf-8").splitlines():
        number, text, *_ = line.split("\t")
        texts[COMMENT + number] = text
    rights: dict[str, dict[tuple[int, str], tuple[bool, float]]] = defaultdict(dict)
    for row in read_rows(JUDGED):
        rights[clean(texts[row["id"]])][int(row["place"]), row["written"]] = row["right"] == "1", float(row["weight"])
    for text, own in zip(rights, changes(editor, "judged", rights)):
        for change in own:
            letters = change.written.ljust(len(change.letters), "-")
            known = (rights[text].get((change.place + at, letter)) for at, letter in enumerate(letters))
            if found := next(filter(None, known), None):
                yield change._replace(text=text, is_right=found[0], number=min(found[1], MOST))


def spoilt(editor: restoring.Restorer, source: str, texts: Iterable[str]) -> Iterator[Change]:
    """Yield the changes at the place of an error that is put into each text, ERRORS_OF_TEXT times or once."""
    random, places, sources = numpy.random.RandomState(SEED), list[tuple[str, int, int]](), list[str]()
    short = [text for text in texts if SHORT[0] <= len(text) <= SHORT[1]]
    for number, text in enumerate(short * (1 if len(short) > MANY else ERRORS_OF_TEXT)):
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
            if change.place < end and begin < change.place + len(change.letters):
                yield change._replace(text=text, is_right=change.whole == text.replace(SPACE, ""))


def misspelt(editor: restoring.Restorer, source: str, pairs: Sequence[tuple[str, str]]) -> Iterator[Change]:
    """Yield the changes to the first of each (text, the same as it was meant)."""
    for (text, meant), own in zip(pairs, changes(editor, source, [text for text, _ in pairs])):
        tags, _ = tags_of(text, meant, editor.characters)
        for change in own:
            yield change._replace(text=meant, is_right=tags[change.place :][: len(change.tags)] == change.tags)


def all_changes(editor: restoring.Restorer, sentences: Path, comments: Path) -> Iterator[Change]:
    """Yield the changes that the trees are fitted to."""
    dev = [pair for (half, _), pairs in right_texts().items() if half == "dev" for pair in pairs]
    texts, wrong = {"right": [text for _, text in dev]}, [pair for pair in dev if pair[0] != pair[1]]
    yield from misspelt(editor, "wrong", wrong)
    by_eye = [*judged(editor, comments)]
    yield from by_eye
    yield from spoilt(editor, "error, judged", dict.fromkeys(each.text for each in by_eye))
    for file in sorted(HERE.glob("written/*")):
        texts.setdefault("unread" if file.name in UNREAD else "written", []).extend(file.read_text("utf-8").split("\n"))
    texts["clean"] = Random(SEED).sample(sentences.read_text("utf-8").splitlines(), SENTENCES)
    words, generator = dictionary_words(), Random(SEED)
    # names and other words that are seldom found in reviews
    texts["other words"] = [*filter(None, (exchanged(text, words, generator) for text in texts["clean"][:SPOILT]))]
    random = numpy.random.RandomState(SEED)
    for source, noise, number in (("typed", typed, 10_000), ("slipped", slipped, 6000)):
        yield from misspelt(editor, source, [(noise(text, random), text) for text in texts["clean"][:number]])
    for source, own in texts.items():
        yield from chain.from_iterable(changes(editor, source, filter(None, own)))
        yield from spoilt(editor, f"error, {source}", own[: SPOILT : SOME if source == "written" else 1])


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


def sample_of(changes: Iterable[Change]) -> Sample:
    columns = zip(
        *(
            (each.evidence, each.is_right, each.number * TIMES[each.source], each.source, hash_of(each.text))
            for each in changes
        )
    )
    rows, is_right, weights, sources, texts = map(numpy.array, columns)
    return Sample(rows.astype("float64"), is_right, weights, sources, texts, texts % FOLDS)


def fit(sample: Sample) -> HistGradientBoostingClassifier:
    """Return the fitted model, whose log-odds never fall if those of the editor rise."""
    rising = [1, 1] + [0] * (sample.rows.shape[1] - 2)
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
    """Print the log-odds that few wrong changes exceed, and of each source how many of its changes do."""
    odds = numpy.zeros(len(sample.rows))
    for fold in range(FOLDS):
        own = sample.folds == fold
        odds[own] = fit(sample.part(~own)).decision_function(sample.part(own).rows)
    wrong = numpy.sort(odds[(sample.sources == "right")])[::-1]
    for least in (*wrong[[1, 2, 3]].tolist(), 1.25, 1.5, 1.75, 2.0):
        cells = [f"{least:.2f}"]
        for source in TIMES:
            for is_right in (True, False):
                own = (sample.sources == source) & (sample.is_right == is_right)
                weights = sample.weights[own] / TIMES[source]
                made = float(weights[odds[own] > least].sum())
                if own.any():
                    cells.append(f"{source} {100 * made / weights.sum():.1f} %" if is_right else f"wrong: {made:.0f}")
        print(", ".join(cells), flush=True)


def main(sentences: Path, comments: Path, bundle: str | None, checked: bool) -> None:
    begun, editor = time.process_time(), restoring.load_restorer(bundle)
    editor.engine.threads = 1
    sample = sample_of(all_changes(editor, sentences, comments))
    counts = Counter(zip(sample.sources.tolist(), sample.is_right.tolist()))
    print({source: (counts[source, True], counts[source, False]) for source in TIMES}, flush=True)
    if checked:
        check(sample)
    TREES.write_text(json.dumps(stored(fit(sample)), separators=(",", ":")) + "\n", encoding="utf-8")
    spent, most = time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{spent:.0f} s of processor time, at most {most:.1f} GiB of memory; {TREES.stat().st_size:,} bytes")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("sentences", type=Path)
    parser.add_argument("comments", type=Path)
    parser.add_argument("--bundle")
    parser.add_argument("--check", action="store_true", dest="checked")
    main(**vars(parser.parse_args()))
