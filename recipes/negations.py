"""Labelled sentences with signs, to train a classifier on the effect of negation on words.

    python -m recipes.negations FILE.csv [--sentences 20000] [--seed 0]

The file has the columns document, label (0 or 1) and signs: "start:end:sign" of characters of the document, separated by
spaces. The sign is -1 if the context negates a word, 1 if not, and 0 for the negator of a positive sentence, which should
contribute nothing. The templates of `negations.tsv` follow CheckList (Ribeiro et al. 2020, arXiv:2005.04118); most are
pairs that differ in a few words and in the label (Kaushik et al. 2020, arXiv:1909.12434). Other words of NSMC's training
file with the same polarity replace most of their words. No sentence is in the behavioural suite
(benchmarks/classification/behaviour.tsv) or shares SHARED letters in a row with its negations, an idiom not even IDIOM.
"""

import argparse
import csv
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import pandas
from numpy.random import RandomState

from benchmarks.classification.behaviour import cases
from nsmc_attention.corpora import nsmc
from nsmc_attention.corpora.nsmc import Reviews
from nsmc_attention.text.encoding import clean, tokenize_many
from nsmc_attention.text.hangul import parts
from nsmc_attention.text.tokenizers import align

TOKENIZER, TRIES, SHARED, IDIOM = "mecab", 200, 7, 5
# Share of the words and nouns that may be another one which are, and fewest to choose from
OTHER, FEWEST_WORDS = 0.7, 5
# Least log-odds of a word that praises or blames, most of a noun that does not; fewest reviews of a word, and pairs with what follows
POLAR, NEUTRAL, FEWEST, FEWEST_BESIDE, FEWEST_NOUNS = 1.2, 0.6, 30, 3, 30
Span = tuple[int, int, int]
Option = TypeVar("Option")
# The endings before the finished ones; letters of a word that are marked; words of each label that take 안
COLUMNS, ROOTS, SHORT, LABELS = "지데ㄴㄹ", 2, 5, "01"


def read() -> dict[tuple[str, str, str], str]:
    """Return the texts of `negations.tsv` by kind, name and label ("" of both labels)."""
    with open(Path(__file__).with_suffix(".tsv"), encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {(row["kind"], row["name"], row["label"]): row["text"] for row in rows}


TEXTS = read()


def forms(word: str) -> list[str]:
    """Return the forms of a word "root+ending": before 않다, 은데, a noun, 줄 알았는데, then finished."""
    root, ending = word.split("+")
    return [root + each for each in TEXTS["ending", ending, ""].split()]


# Of label 0 and of label 1: words by their forms; tokens whose place another may take; a pattern of other words
WORDS = [list(map(forms, TEXTS["word", "", label].split())) for label in LABELS]
REPLACED = [set(TEXTS["replaced", "", label].split()) for label in LABELS]
KNOWN = ["|".join(TEXTS["known", "", label].split()) for label in LABELS]
# Sayings whose words have the other polarity, or none: each ends on a verb, which is a slot
BEFORE_NOUN = {"없": "없는", "않": "않는", "아니": "아닌", "되": "되는", "겠": "겠는", "못": "못하는"}
VERB = re.compile(f"({'|'.join(BEFORE_NOUN)})$")
SAYINGS = [[VERB.sub(r"<\1>", each) for each in TEXTS["idiom", "", label].split("; ")] for label in LABELS]
# What fills a slot, where _ is a space and * nothing; <+..> is a word of the sentence's label, <-..> one of the other's
SLOTS = {
    name + label: [each.replace("_", " ").strip("*") for each in text.split()]
    for (kind, name, label), text in TEXTS.items()
    if kind == "slot"
}
NEGATIONS, NEGATED = ("negation", "double negation"), ("negation", "double negation", "idioms")
# Half of the sentences negate once or twice
TURNS = [*dict.fromkeys(name for kind, name, _ in TEXTS if kind == "template"), *NEGATIONS]
# What a silent negator begins with, and what else tests and pages judge by
NEGATOR = re.compile("않|없|아니|아닌|아닙|아님|아녔|못|안$")
AVOIDED = re.compile("추천할만한영화가아니|바랄|재미없지않|나쁘지않|재미있지않|기대에못미|안보면후회")
# A word before a particle is a noun, which 없다 and 아니다 deny in more than one way
PARTICLES = set("이 가 은 도 을 를 에 의 만 로 으로 과 와".split())
UNFIT = "미치 바라 후회 나쁘 재미없 재미있 추천 만큼 보다 시간 평점 으로 에서 까지 부터 처럼 한테 에게 하나"
# Endings and what derives adjectives, by those that follow the same words
ALIKE = ("지 다 네요 는데 고 던 게", "하 한 할 해 했 함 하다 합니다", "스러운 스럽 스러워")
NOUNS = {noun for slot in ("main", "work", "part", "side", "other") for noun in SLOTS[slot] if len(noun) > 1}


@dataclass(frozen=True)
class Sentence:
    """A sentence of a label, what its template is for, and (start, end, sign) of its words."""

    text: str
    label: int
    category: str
    spans: tuple[Span, ...] = ()

    def with_word(self, start: int, end: int, word: str) -> "Sentence":
        """Return it with another word from start to end, and each span where its own word is."""
        moved = len(word) - (end - start)
        spans = [(a + moved * (a > start), b + moved * (b >= end), sign) for a, b, sign in self.spans]
        return replace(self, text=self.text[:start] + word + self.text[end:], spans=tuple(spans))

    def __str__(self) -> str:
        """Return the signs as the file has them."""
        return " ".join(f"{start}:{end}:{sign}" for start, end, sign in sorted(self.spans))


class HeldOut:
    """What no sentence may share with the behavioural suite."""

    def __init__(self) -> None:
        suite = cases()
        self.whole = {letters(text) for case in suite for text in (case.text, case.other or "")}
        texts = {name: [letters(case.text) for case in suite if case.category == name] for name in NEGATED}
        self.negations = runs([*texts["negation"], *texts["double negation"]], SHARED)
        self.idioms = runs([text for each in texts.values() for text in each], IDIOM)

    def has(self, sentence: Sentence) -> bool:
        """Return whether a sentence is too near to the suite."""
        found = letters(sentence.text)
        known, size = (self.idioms, IDIOM) if sentence.category == "idioms" else (self.negations, SHARED)
        return found in self.whole or bool(known & runs([found], size)) or AVOIDED.search(found) is not None


@dataclass
class Vocabulary:
    """Words of reviews that may stand before a token: of label 0 and of 1, and nouns of neither."""

    words: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)
    nouns: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, reviews: Reviews) -> "Vocabulary":
        """Return the words of reviews without a negator; those of the suite's negations are left out."""
        sides: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        pairs: Counter[tuple[str, str]] = Counter()
        token_lists = tokenize_many(reviews.documents, TOKENIZER)
        for tokens, label in zip(token_lists, reviews.labels.tolist()):
            if not any(map(NEGATOR.match, tokens)):
                sides[label].update(set(tokens))
                pairs.update(zip(tokens, tokens[1:]))
        unfit = " ".join([UNFIT, *(case.text for case in cases() if case.category in NEGATIONS)])
        words: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
        nouns: dict[str, list[str]] = defaultdict(list)
        for (word, behind), beside in pairs.items():
            if not re.fullmatch("[가-힣]{2,}", word) or word in unfit:
                continue
            odds = math.log((sides[1][word] + 1) / (sides[0][word] + 1))
            if behind in ("이", "가", "은", "는", "을", "를") and beside >= FEWEST_NOUNS and abs(odds) < NEUTRAL:
                nouns[behind].append(word)
            often = beside >= FEWEST_BESIDE and sides[0][word] + sides[1][word] >= FEWEST
            if often and abs(odds) >= POLAR and behind not in PARTICLES:
                words[behind][odds > 0].add(word)
        for endings in map(str.split, ALIKE):
            both = tuple(set().union(*(words[each][label] for each in endings)) for label in (0, 1))
            words.update(dict.fromkeys(endings, (both[0], both[1])))
        return cls({each: (sorted(a), sorted(b)) for each, (a, b) in words.items()}, {**nouns, "은": nouns["이"]})

    def varied(self, sentence: Sentence, tokens: Sequence[str], random: RandomState) -> Sentence:
        """Return a sentence of these tokens with other words and nouns in place of most of those that may be replaced."""
        places = list(zip(align(sentence.text, tokens), tokens, tokens[1:]))
        marked = {start for start, _, _ in sentence.spans}
        # from behind, so that the places before stay where they are
        for (start, end), token, behind in reversed(places):
            options = self.others(token, behind, start in marked)
            if len(options) >= FEWEST_WORDS and random.random_sample() < OTHER:
                sentence = sentence.with_word(start, end, draw(options, random))
        return sentence

    def others(self, token: str, behind: str, marked: bool) -> list[str]:
        """Return the words that may replace a token before another."""
        if not marked:
            return self.nouns.get(behind, []) if token in NOUNS else []
        sides = [label for label in (0, 1) if token in REPLACED[label]]
        return self.words[behind][sides[0]] if sides and behind in self.words else []


def sentences(count: int, seed: int, reviews: Reviews) -> list[Sentence]:
    """Return sentences with signs, half of each label; fewer than `count` where templates have no more."""
    random, held_out, vocabulary = RandomState(seed), HeldOut(), Vocabulary.of(reviews)
    drawn: dict[str, Sentence] = {}
    for number in range(count):
        for _ in range(TRIES):
            # the two labels of a category follow each other
            sentence = fill(TURNS[number // 2 % len(TURNS)], number % 2, random)
            if sentence.text not in drawn and not held_out.has(sentence):
                drawn[sentence.text] = sentence
                break
    plain = list(drawn.values())
    varied = [vocabulary.varied(*each, random) for each in zip(plain, tokenize_many(list(drawn), TOKENIZER))]
    kept = [old if held_out.has(new) else new for old, new in zip(plain, varied)]
    return list(map(silenced, kept, tokenize_many([each.text for each in kept], TOKENIZER)))


def fill(category: str, label: int, random: RandomState) -> Sentence:
    """Draw a template of a category and what fills its slots."""
    known = [TEXTS[key] for key in (("template", category, ""), ("template", category, str(label))) if key in TEXTS]
    template = draw("; ".join(known).split("; "), random)
    if "saying" in template:
        saying = draw(SAYINGS[label], random)
        before_noun = re.sub("<(.+)>", lambda verb: BEFORE_NOUN[verb[1]], saying)
        template = template.replace("<saying>", saying).replace("<noun saying>", before_noun)
    text, used, roots = "", {""}, []
    for number, piece in enumerate(re.split("<(.+?)>", template + "<tail>")):
        if number % 2 == 0:
            text += piece
        elif "/" in piece:
            text += piece.split("/")[not parts(text[-1])[2]]
        else:
            forms = draw([forms for forms in fillings(piece, label) if forms[0] not in used - {""}], random)
            used.add(forms[0])
            form = draw(forms, random)
            if piece[0] in "+-":
                roots.append((form[:ROOTS], label if piece[0] == "+" else 1 - label))
            text += form
    text = respaced(clean(text), random)
    return Sentence(text, label, category, tuple(signs(text, label, roots, category != "contrast")))


def signs(text: str, label: int, roots: Sequence[tuple[str, int]], negated: bool) -> list[Span]:
    """Return the spans of the slots' words, (word, polarity) in their order, and where something is negated of KNOWN ones."""
    spans: list[Span] = []
    position = len(text)
    # from behind: what fills other slots may begin like a word
    for word, polarity in reversed(roots):
        position = text.rindex(word, 0, position)
        spans.append((position, position + len(word), -1 if negated and polarity != label else 1))
    if negated:
        for polarity, words in enumerate(KNOWN):
            for start, end in (match.span() for match in re.finditer(words, text)):
                if all(end <= a or start >= b for a, b, _ in spans):
                    spans.append((start, end, 1 if polarity == label else -1))
    return spans


def silenced(sentence: Sentence, tokens: Sequence[str]) -> Sentence:
    """Return a sentence of these tokens with the sign 0 on its negators, if it is a positive one that negates once."""
    if not sentence.label or sentence.category not in ("negation", "idioms"):
        return sentence
    silent = [(*span, 0) for span, token in zip(align(sentence.text, tokens), tokens) if NEGATOR.match(token)]
    free = [(a, b, 0) for a, b, _ in silent if all(b <= start or a >= end for start, end, _ in sentence.spans)]
    return replace(sentence, spans=(*sentence.spans, *free))


def fillings(slot: str, label: int) -> list[list[str]]:
    """Return the words that a slot may take, each by the forms that fit there."""
    if slot[0] not in "+-":
        return [[each] for each in SLOTS[slot if slot != "!" else f"!{label}"]]
    words = WORDS[label if slot[0] == "+" else 1 - label][: SHORT if "안" in slot else None]
    column = COLUMNS.find(slot[-1])
    if slot[-1] == "하":
        return [[form for form in forms[len(COLUMNS) :] if form.endswith("다")][:1] for forms in words]
    return [forms[len(COLUMNS) :] if column < 0 else forms[column : column + 1] for forms in words]


def respaced(text: str, random: RandomState) -> str:
    """Return the text: one in twenty without spaces, one in five without one of them."""
    chance, words = random.random_sample(), text.split(" ")
    if chance < 0.05:
        return "".join(words)
    if chance > 0.25 or len(words) == 1:
        return text
    where = random.randint(1, len(words))
    return " ".join(words[:where]) + " ".join(words[where:])


def draw(options: Sequence[Option], random: RandomState) -> Option:
    return options[random.randint(len(options))]


def letters(text: str) -> str:
    """Return the letters that tell sentences apart: no spaces, punctuation or ㅋㅋ."""
    return re.sub("[^가-힣0-9a-z]", "", text)


def runs(texts: Iterable[str], size: int) -> set[str]:
    """Return all runs of so many letters of texts."""
    return {text[at : at + size] for text in texts for at in range(len(text) - size + 1)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m recipes.negations", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--sentences", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    found = sentences(arguments.sentences, arguments.seed, nsmc.load("nsmc", "train"))
    rows = [(each.text, each.label, str(each)) for each in found]
    pandas.DataFrame(rows, columns=["document", "label", "signs"]).to_csv(arguments.file, index=False)


if __name__ == "__main__":
    main()
