"""Accuracy of spaces in sentences written for this benchmark: a table of this folder's README.md.

    pip install kiwipiepy==0.24.1
    python -m benchmarks.restoration.spacing [--sentences FILE | --held-out] [--wrong] [--min-probability 0.5 0.7 0.9] [BUNDLE ...]

`spacing.tsv` has sentences with their kind and, in the last column, the article of 한글 맞춤법 that decides doubtful spaces. An
underscore marks an optional space, which is not scored. `spacing_2.tsv` has further sentences, which were fixed before the
first evaluation on them. The packaged editor and writer, the bundles and kiwi get the sentences without spaces and with
correct spaces. Changed letters are aligned with those of the sentence; a letter that a restorer omits has no space after it.
--held-out takes the sentences of written/ that `other_words` holds out from training, which have no underscore. --wrong lists
the sentences with errors, and --min-probability adds the packaged editor with these least probabilities.
"""

import argparse
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Union

os.environ["OMP_NUM_THREADS"] = "1"

from nsmc_attention.systems.restore.restorer import load_restorer
from nsmc_attention.systems.restore.settings import EDITOR, WRITER
from nsmc_attention.systems.sequences.characters import aligned, split_spaces

SENTENCES = Path(__file__).with_suffix(".tsv")
OPTIONAL = "_"
BESIDE = ("right, editor wrong", "wrong, editor right")
Restore = Callable[[list[str]], list[str]]


@dataclass(frozen=True)
class Sentence:
    """A sentence, its kind, and the article of the rules that decides what is doubtful ("" if nothing is)."""

    kind: str
    marked: str
    rule: str

    def text(self, optional: str = " ") -> str:
        """Return it with `optional` where both are right."""
        return self.marked.replace(OPTIONAL, optional)

    def spaces(self, found: str) -> tuple[bool, list[tuple[bool, bool]]]:
        """Return whether `found` has the same letters, and (found, wanted) of each place where one of them is right."""
        letters, wanted = split_spaces(self.text())
        _, joined = split_spaces(self.text(""))
        others, follows = split_spaces(found)
        marks = [other >= 0 and follows[other] for _, other in aligned(letters, others)]
        decided = [(mark, want) for mark, want, least in zip(marks, wanted, joined) if want == least]
        return letters == others, decided[:-1]

    def is_right(self, found: str) -> bool:
        same, places = self.spaces(found)
        return same and all(mark == want for mark, want in places)


def read(path: Path = SENTENCES) -> list[Sentence]:
    return [Sentence(*line.split("\t")) for line in path.read_text(encoding="utf-8").splitlines()[1:]]


def held_out() -> list[Sentence]:
    """Return the sentences of written/ that are kept from training; the kind is the file's name."""
    from recipes.other_words import is_held_out, written

    return [Sentence(kind, text, "") for kind, text in written() if is_held_out(text)]


def f1(places: Iterable[tuple[bool, bool]]) -> float:
    """Return F1 of the spaces among (found, wanted), in percent."""
    pairs = list(places)
    return 200 * sum(mark and want for mark, want in pairs) / max(1, sum(mark + want for mark, want in pairs))


def restoring(bundle: Union[str, Path], least: Optional[float] = None) -> Restore:
    restorer = load_restorer(bundle, min_probability=least)
    return lambda texts: [each.text for each in restorer.restore_many(texts)]


def contestants(bundles: list[str], probabilities: list[float]) -> Iterator[tuple[str, Restore, Restore]]:
    """Yield the name of each, what restores sentences without spaces, and what restores those that have them."""
    named: dict[str, Union[str, Path]] = {"editor": EDITOR, "writer": WRITER, **dict(zip(bundles, bundles))}
    restorers = {name: restoring(bundle) for name, bundle in named.items()}
    restorers.update({f"editor, {least}": restoring(EDITOR, least) for least in probabilities})
    for name, restored in restorers.items():
        yield name, restored, restored
    # the tests of this file do without kiwi
    from kiwipiepy import Kiwi

    kiwi = Kiwi(num_workers=1)
    yield (
        "kiwipiepy 0.24.1",
        lambda texts: [kiwi.space(text, reset_whitespace=True) for text in texts],
        lambda texts: [kiwi.space(text) for text in texts],
    )


def percent(values: Iterable[bool]) -> str:
    listed = list(values)
    return f"{100 * sum(listed) / len(listed):.1f}"


def row(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def main(sentences: list[Sentence], bundles: list[str], probabilities: list[float], show_wrong: bool) -> None:
    found, right = dict[str, list[str]](), dict[str, list[bool]]()
    row("restorer", "F1", "left out", "put in", "right", "letters kept", *BESIDE, "left as they are")
    row(*["---"] * 9)
    for name, restored, touched in contestants(bundles, probabilities):
        found[name] = restored([sentence.text("").replace(" ", "") for sentence in sentences])
        right[name] = list(map(Sentence.is_right, sentences, found[name]))
        judged = list(map(Sentence.spaces, sentences, found[name]))
        spaces = Counter(place for _, places in judged for place in places)
        beside = Counter(zip(right[name], right["editor"]))
        row(
            name,
            f"{f1(spaces.elements()):.2f}",
            spaces[False, True],
            spaces[True, False],
            percent(right[name]),
            percent(same for same, _ in judged),
            beside[True, False],
            beside[False, True],
            percent(map(Sentence.is_right, sentences, touched([sentence.text() for sentence in sentences]))),
        )
    print()
    print_kinds(sentences, found)
    for name in found if show_wrong else ():
        print("", name, sep="\n")
        for sentence, text, is_right in zip(sentences, found[name], right[name]):
            if not is_right:
                print(f"{sentence.kind}: {sentence.marked} -> {text}")


def print_kinds(sentences: list[Sentence], found: dict[str, list[str]]) -> None:
    row("kind", "sentences", *found)
    row(*["---"] * (2 + len(found)))
    for kind, count in Counter(sentence.kind for sentence in sentences).items():
        scores = (
            f1(
                place
                for sentence, text in zip(sentences, texts)
                if sentence.kind == kind
                for place in sentence.spaces(text)[1]
            )
            for texts in found.values()
        )
        row(kind, count, *(f"{score:.1f}" for score in scores))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("bundles", nargs="*")
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--sentences", type=Path, default=SENTENCES)
    chosen.add_argument("--held-out", action="store_true")
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--min-probability", nargs="+", type=float, default=[])
    arguments = parser.parse_args()
    given = held_out() if arguments.held_out else read(arguments.sentences)
    main(given, arguments.bundles, arguments.min_probability, arguments.wrong)
