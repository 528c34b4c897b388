"""Names that stay unchanged: a table of this folder's README.md.

    pip install kiwipiepy==0.24.1
    python -m benchmarks.restoration.names [--spoilt] [--min-probability 0.5 0.9] [BUNDLE ...]

`names.tsv` has 300 names of films, characters and film people, with their frequency in the raw reviews. Each name is put
into the twelve sentences below, which fit any ending of a name, with correct spaces and without spaces. Only the name is
compared: its letters, and its letters and spaces. --spoilt lists changed names, and --min-probability adds the packaged
editor with these least probabilities.
"""

import argparse
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from .spacing import contestants, percent, row

NAMES = Path(__file__).with_suffix(".tsv")
KINDS = {
    "film": (
        "{} 이후로 이런 영화는 처음이에요",
        "{} 같은 영화를 또 보고 싶어요",
        "{}보다 훨씬 재미있었다",
        "어릴 때 {} 보고 많이 울었어요",
        "{}의 감동이 아직도 남아 있다",
        "제가 가장 좋아하는 영화는 {}입니다",
        "{} 때문에 이 감독을 알게 됐어요",
        "{}, 다시 봐도 명작입니다",
        "솔직히 {} 말고는 볼 만한 게 없었다",
        "{}도 이 정도는 아니었는데",
        "오늘 극장에서 {} 보고 왔어요",
        "{}에 비하면 많이 아쉽네요",
    ),
    "person": (
        "{} 나오는 영화는 다 봤어요",
        "역시 {} 이름값을 하네요",
        "{} 때문에 끝까지 봤습니다",
        "{}도 어쩔 수 없는 영화였네요",
        "{}의 매력이 기억에 남는다",
        "주인공보다 {} 쪽이 더 좋았어요",
        "믿고 보는 {}",
        "{} 말고는 볼 게 없다",
        "그중에서 {}만 돋보였어요",
        "이번에는 {}에게 실망했다",
        "{}, 정말 멋있었어요",
        "오랜만에 {} 보니까 반가웠어요",
    ),
}


class Name(NamedTuple):
    """A name, its kind and origin, and the places of the raw reviews where it is."""

    kind: str
    origin: str
    name: str
    reviews: str

    @property
    def sentences(self) -> list[str]:
        return [frame.format(self.name) for frame in KINDS[self.kind]]


def read(path: Path = NAMES) -> list[Name]:
    return [Name(*line.split("\t")) for line in path.read_text(encoding="utf-8").splitlines()[1:]]


def has_letters(name: str, text: str) -> bool:
    """Return whether a text has the letters of a name in a row, spaces aside."""
    return name.replace(" ", "") in text.replace(" ", "")


def main(bundles: list[str], probabilities: list[float], show_spoilt: bool) -> None:
    owners = [each for each in read() for _ in each.sentences]
    sentences = [sentence for each in read() for sentence in each.sentences]
    spoilt = dict[str, Counter[str]]()
    row("restorer", "letters kept", "letters and spaces", "names kept in all sentences", "without spaces: letters kept")
    row(*["---"] * 5)
    for who, restored, touched in contestants(bundles, probabilities):
        found = touched(sentences)
        letters = [has_letters(each.name, text) for each, text in zip(owners, found)]
        whole = [each.name in text for each, text in zip(owners, found)]
        always = Counter(each for each, kept in zip(owners, whole) if kept)
        joined = restored([sentence.replace(" ", "") for sentence in sentences])
        row(
            who,
            percent(letters),
            percent(whole),
            percent(always[each] == len(each.sentences) for each in read()),
            percent(has_letters(each.name, text) for each, text in zip(owners, joined)),
        )
        spoilt[who] = Counter(
            f"{each.name}: {sentence} -> {text}"
            for each, sentence, text, kept in zip(owners, sentences, found, whole)
            if not kept
        )
    for who in spoilt if show_spoilt else ():
        print("", who, *spoilt[who], sep="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("bundles", nargs="*")
    parser.add_argument("--spoilt", action="store_true")
    parser.add_argument("--min-probability", nargs="+", type=float, default=[])
    arguments = parser.parse_args()
    main(arguments.bundles, arguments.min_probability, arguments.spoilt)
