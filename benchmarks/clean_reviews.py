"""The sentences that the packaged `restore` was trained on and is judged by: reviews whose spelling and spacing are right.

    pip install kiwipiepy==0.24.1
    NSMC_ATTENTION_DATA=... python -m benchmarks.clean_reviews FOLDER

Writes train.txt (raw star reviews and NSMC's training file, without the reviews of the official test file) and test.txt
(the official test file). A sentence is right where `restoration.spelling` finds nothing and kiwi (LGPL, needed here alone)
sets the same spaces. spaced.tsv holds what kiwi wrote: an interrupted run goes on.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from kiwipiepy import Kiwi
from tqdm.auto import tqdm

from nsmc_attention.restoration.spelling import is_spelt, sentences, suspicious_trigrams
from nsmc_attention.reviews import nsmc, raw
from nsmc_attention.text.encoding import clean

# Laughter and crying, which stand between sentences
LETTERS = re.compile(r"[ㄱ-ㅣ^]+")


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    test = nsmc.load("nsmc", "test").frame
    stars = raw.load(raw.find(None), [test]).frame
    held_out = dict.fromkeys(map(clean, test["document"]))
    texts = [clean(text) for text in (*stars["document"], *nsmc.load("nsmc", "train").documents)]
    texts = [text for text in dict.fromkeys(texts) if text not in held_out]
    suspicious = suspicious_trigrams(texts)
    spaced = Spaced(folder / "spaced.tsv")
    for name, part in (("test", list(held_out)), ("train", texts)):
        found = dict.fromkeys(clean_sentences(part, suspicious, spaced))
        (folder / f"{name}.txt").write_text("".join(f"{each}\n" for each in found), encoding="utf-8")
        print(f"{name}: {len(found):,} sentences of {len(part):,} reviews")


def clean_sentences(texts: Iterable[str], suspicious: set[str], spaced: "Spaced") -> Iterator[str]:
    """Yield the reviews that are right, and of the others the sentences that are."""
    for text in tqdm(texts, mininterval=10):
        pieces = [text] if is_spelt(text, suspicious) and spaced(text) == text else sentences(text)
        for piece in pieces:
            for each in (part.strip() for part in LETTERS.split(piece)):
                if is_spelt(each, suspicious) and spaced(each) == each:
                    yield each


class Spaced:
    """Texts as kiwi sets their spaces; asked for once, and kept in a file."""

    def __init__(self, path: Path) -> None:
        self.known: dict[str, str] = {}
        if path.is_file():
            lines = path.read_text(encoding="utf-8").splitlines()
            self.known = dict(line.split("\t") for line in lines if line.count("\t") == 1)
        self.file, self.kiwi = path.open("a", encoding="utf-8"), Kiwi(num_workers=1)

    def __call__(self, text: str) -> str:
        if text not in self.known:
            self.known[text] = self.kiwi.space(text, reset_whitespace=True)
            self.file.write(f"{text}\t{self.known[text]}\n")
        return self.known[text]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
