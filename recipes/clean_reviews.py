"""Clean sentences for training and evaluating `restore`: reviews with correct spelling and spacing.

    pip install kiwipiepy==0.24.1
    NSMC_ATTENTION_DATA=... python -m recipes.clean_reviews FOLDER [--by-editor 250000]

The script writes train.txt (raw star reviews and NSMC's training file, without the reviews of the official test file) and
test.txt (the official test file). `recipes.spelling` finds no error in these sentences. test.txt has the sentences that
kiwi (LGPL, used only here) spaces like their writers. The spaces of train.txt are kiwi's, unless careful writers usually
differ: between the same letters, they write a space twice as often as not, or omit it twenty times as often. In both
files, the rules of 한글 맞춤법 decide last, also about common misspellings (recipes.orthography). --by-editor writes only
train.txt, from a random sample of this size, with spaces by the packaged editor, which was trained on kiwi's.
"""

import argparse
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from unittest.mock import patch

from tqdm.auto import tqdm

from nsmc_attention.corpora import nsmc, raw
from nsmc_attention.machine.files import read_rows
from nsmc_attention.systems.restore import restorer
from nsmc_attention.systems.sequences.characters import SPACE, split_spaces
from nsmc_attention.text.encoding import clean

from .orthography import by_rules, respelt
from .spelling import LONGEST, SHORTEST, is_spelt, sentences, suspicious_trigrams

# Laughter and crying, which stand between sentences
LETTERS = re.compile(r"[ㄱ-ㅣ^]+")
# Texts that kiwi is asked for at once
BATCH = 10_000
# A writer is careful where at most this share of the spaces differs; and {whether kiwi sets a space: how often careful
# writers must differ, and how many times as often as not}
CAREFUL, OVERRULED = 0.1, {False: (5, 2), True: (8, 20)}
# Up to two letters of the words on either side of a place, and whether kiwi sets a space there
Context = tuple[str, str, bool]
# A space that is left out in haste: after the words 안 and 못, before 있다, 없다 and 나다
HASTY = re.compile(r"^ [안못] |[^ ] [있없나난났날납]")


# Sets the spaces of texts
Spacer = Callable[[list[str]], Iterable[str]]
RIGHT, SEED = Path(__file__).parents[1] / "benchmarks/restoration/right.tsv", 5


def main(folder: Path, by_editor: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    test = nsmc.load("nsmc", "test").frame
    stars = raw.load(raw.find(None), [test]).frame
    held_out = dict.fromkeys(respelt(clean(text)) for text in test["document"])
    texts = [respelt(clean(text)) for text in (*stars["document"], *nsmc.load("nsmc", "train").documents)]
    texts = [text for text in dict.fromkeys(texts) if text not in held_out]
    suspicious = suspicious_trigrams(texts)
    if by_editor:
        judged = {row["id"] for row in read_rows(RIGHT)}
        judged = {respelt(clean(text)) for text in stars["document"][stars["id"].astype(str).isin(judged)]}
        drawn = random.Random(SEED).sample(texts, by_editor)
        drawn = [text for text in drawn if text not in judged]
        write(folder / "train.txt", (by_rules(spaced) for _, spaced in well_spelt(drawn, suspicious, editor_spacer())))
        return
    write(folder / "test.txt", (by_rules(text) for text, _ in well_spelt(held_out, suspicious, kiwi_spacer(), True)))
    pairs = [(text, by_rules(spaced)) for text, spaced in dict.fromkeys(well_spelt(texts, suspicious, kiwi_spacer()))]
    overruled = overruled_contexts(pairs)
    print(f"kiwi is overruled in {len(overruled):,} contexts")
    write(folder / "train.txt", (by_rules(corrected(spaced, overruled)) for _, spaced in pairs))


def kiwi_spacer() -> Spacer:
    from kiwipiepy import Kiwi

    kiwi = Kiwi(num_workers=2)
    return lambda texts: kiwi.space(texts, reset_whitespace=True)


def editor_spacer() -> Spacer:
    """Return the packaged editor, which here makes all changes of spaces that it finds likely."""
    editor = restorer.load_restorer(only="spacing")

    def spaced(texts: list[str]) -> Iterable[str]:
        with patch.object(restorer, "keep_right_text", lambda _, decided: decided):
            return [text for text, _ in editor.rows(texts)]

    return spaced


def well_spelt(
    texts: Iterable[str], suspicious: set[str], spacer: Spacer, as_typed: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield (text, the same with the spacer's spaces) of the reviews that are right then, of others the sentences.

    `as_typed`: only where both are the same.
    """
    waiting = iter(tqdm(texts, mininterval=10))

    def is_right(text: str, spaced: str) -> bool:
        return is_spelt(spaced, suspicious) and (spaced == text or not as_typed)

    while batch := list(islice(waiting, BATCH)):
        wrong = list[str]()
        for text, spaced in respaced(spacer, batch):
            if is_right(text, spaced):
                yield text, spaced
            else:
                wrong += (part.strip() for piece in sentences(text) for part in LETTERS.split(piece))
        yield from (pair for pair in respaced(spacer, wrong) if is_right(*pair))


def respaced(spacer: Spacer, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (text, the same with other spaces), of those whose length can be right."""
    asked = [text for text in texts if SHORTEST - 2 <= len(text) <= LONGEST]
    return zip(asked, spacer(asked))


def overruled_contexts(pairs: Iterable[tuple[str, str]]) -> set[Context]:
    """Return where careful writers mostly do not set the spaces of the second of (text, the same as kiwi spaces it)."""
    same, differ = Counter[Context](), Counter[Context]()
    for text, spaced in pairs:
        (letters, typed), (others, set_by_kiwi) = split_spaces(text), split_spaces(spaced)
        places = range(len(others) - 1)
        unlike = {place for place in places if letters == others and typed[place] != set_by_kiwi[place]}
        if letters == others and len(unlike) <= max(1, CAREFUL * sum(set_by_kiwi)):
            for place in places:
                (differ if place in unlike else same)[context(others, set_by_kiwi, place)] += 1
    return {
        each
        for each, count in differ.items()
        if count >= OVERRULED[each[2]][0] and count >= OVERRULED[each[2]][1] * same[each]
        if not (each[2] and HASTY.search(SPACE.join(each[:2])))
    }


def context(letters: str, spaces: list[bool], place: int) -> Context:
    """Return the context of a place; where the word before has no more than two letters, it begins with a space."""
    before = letters[place] if place and spaces[place - 1] else letters[max(0, place - 1) : place + 1]
    first = place < len(before) or spaces[place - len(before)]
    after = letters[place + 1 : place + (2 if place + 1 < len(spaces) and spaces[place + 1] else 3)]
    return SPACE * first + before, after, spaces[place]


def corrected(text: str, overruled: set[Context]) -> str:
    """Return a text with its spaces the other way where they are overruled."""
    letters, spaces = split_spaces(text)
    other = [space != (context(letters, spaces, place) in overruled) for place, space in enumerate(spaces)]
    return "".join(letter + SPACE * space for letter, space in zip(letters, other)).rstrip()


def write(path: Path, sentences: Iterable[str]) -> None:
    found = dict.fromkeys(sentences)
    path.write_text("".join(f"{each}\n" for each in found), encoding="utf-8")
    print(f"{path.name}: {len(found):,} sentences")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--by-editor", type=int, default=0)
    main(**vars(parser.parse_args()))
