"""How well spaces are put back into sentences that were written by hand: the table of benchmarks/RESULTS.md.

    pip install kiwipiepy==0.24.1
    python -m benchmarks.spacing [--wrong] [BUNDLE ...]

`spacing.tsv` holds each sentence with its kind; an underscore stands where the rules allow both a space and none (by
the article of 한글 맞춤법 in the last column, where it is doubtful). Nobody gains or loses there. The packaged editor and
writer, the bundles and kiwi get the sentences without spaces, and those with the right ones. Where letters were changed,
they are aligned with the sentence's; one that was left out has no space after it. --wrong lists the sentences that are not right.
"""

import argparse
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

from nsmc_attention.restoration.characters import split_spaces
from nsmc_attention.restoration.restorer import load_restorer
from nsmc_attention.restoration.tags import aligned
from nsmc_attention.restoration.task import EDITOR, WRITER

SENTENCES = Path(__file__).with_suffix(".tsv")
OPTIONAL = "_"
KIWI = "kiwipiepy 0.24.1"
Restore = Callable[[list[str]], list[str]]


@dataclass(frozen=True)
class Sentence:
    """A sentence, its kind and the article that allows what is doubtful ("" if nothing is)."""

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


def f1(places: Iterable[tuple[bool, bool]]) -> float:
    """Return F1 of the spaces among (found, wanted)."""
    pairs = list(places)
    return 2 * sum(mark and want for mark, want in pairs) / max(1, sum(mark + want for mark, want in pairs))


def contestants(bundles: list[str]) -> Iterator[tuple[str, Restore, Restore]]:
    """Yield the name of each, what restores sentences without spaces, and what restores those that have them."""
    named = {"editor": str(EDITOR), "writer": str(WRITER), **{bundle: bundle for bundle in bundles}}
    for name, bundle in named.items():
        restorer = load_restorer(bundle)
        restorer.engine.pool = None

        def restored(texts: list[str], restorer: object = restorer) -> list[str]:
            return [each.text for each in restorer.restore_many(texts)]

        yield name, restored, restored
    # the tests of this file do without kiwi
    from kiwipiepy import Kiwi

    kiwi = Kiwi(num_workers=1)
    spaced: Restore = lambda texts: [kiwi.space(text, reset_whitespace=True) for text in texts]  # noqa: E731
    yield KIWI, spaced, lambda texts: [kiwi.space(text) for text in texts]


def row(name: str, *figures: object) -> None:
    print(f"| {name} | " + " | ".join(map(str, figures)) + " |", flush=True)


def percent(values: Iterable[bool]) -> str:
    listed = list(values)
    return f"{100 * sum(listed) / len(listed):.1f}"


def main(bundles: list[str], show_wrong: bool) -> None:
    sentences = read()
    kinds = defaultdict[str, list[int]](list)
    for number, sentence in enumerate(sentences):
        kinds[sentence.kind].append(number)
    by_kind, wrong = dict[str, list[list[tuple[bool, bool]]]](), dict[str, list[str]]()
    right_first: list[bool] = []
    row("restorer", "F1", "right", "letters kept", "right, editor wrong", "wrong, editor right", "kept", "kept joined")
    row("---", *["---"] * 7)
    for name, restored, touched in contestants(bundles):
        found = restored([sentence.text().replace(" ", "") for sentence in sentences])
        judged = [sentence.spaces(text) for sentence, text in zip(sentences, found)]
        right = [sentence.is_right(text) for sentence, text in zip(sentences, found)]
        right_first = right_first or right
        kept = [
            percent(map(Sentence.is_right, sentences, touched([sentence.text(optional) for sentence in sentences])))
            for optional in (" ", "")
        ]
        gained = sum(one and not other for one, other in zip(right, right_first))
        lost = sum(other and not one for one, other in zip(right, right_first))
        score = f1(place for _, places in judged for place in places)
        row(name, f"{100 * score:.2f}", percent(right), percent(same for same, _ in judged), gained, lost, *kept)
        by_kind[name] = [places for _, places in judged]
        wrong[name] = [f"{each.kind}: {each.marked} -> {text}" for each, text, is_right in zip(sentences, found, right) if not is_right]  # fmt: skip
    print()
    row("kind", "sentences", *by_kind)
    row("---", *["---"] * (1 + len(by_kind)))
    for kind, numbers in kinds.items():
        scores = [f1(place for number in numbers for place in places[number]) for places in by_kind.values()]
        row(kind, len(numbers), *(f"{100 * score:.1f}" for score in scores))
    for name in wrong if show_wrong else ():
        print("", name, *wrong[name], sep="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("bundles", nargs="*")
    parser.add_argument("--wrong", action="store_true")
    arguments = parser.parse_args()
    main(arguments.bundles, arguments.wrong)
