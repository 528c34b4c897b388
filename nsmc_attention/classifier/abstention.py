"""Abstention: other languages, addresses, digits, damaged texts and notices get no label.

A text gets a label if it has Korean words, ratings or emoji of the vocabulary, or only words and signs of it (good, ㅋㅋㅋ,
^^), unless an English verdict contradicts the label. Each text with a token still has a probability.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Optional

import numpy
from numpy.typing import NDArray

from ..text.encoding import Encoded, ReviewEncoder
from ..text.symbols import CONTENT, ENGLISH, ENTRIES, LONG_RUN
from .windows import IS_SUSPECT, Reviews, Window

NO_EVIDENCE = "no evidence: expected Korean words, a rating or emoji that the model knows"
LOST = "damaged: the letters of this text were lost when it was saved; save it as UTF-8"
NOTICE = "a notice of the site in place of a review"
SYLLABLE, ANY_LETTER = re.compile("[가-힣]"), re.compile(r"[^\W\d_]")
# Single letters that express something: laughing, crying and sighing; others need an entry of the vocabulary
EXPRESSIVE = re.compile("[ㅋㅎㅠㅜㅡㅗㅉㄷ]")
WORD, NUMBERS = re.compile(r"[^\W\d_]+"), re.compile(r"(?<!\.)(?:\.*\d)+")
# A text of punctuation alone; a word whose letters were replaced by question marks
MARKS_ALONE, QUESTIONED = re.compile(r"[?!.,…~·。！？\s]+"), re.compile(r"(?<!\S)\?+(?!\S)")
# Longest notice that a site shows in place of a deleted, hidden or missing text, and the words for such a text
LONGEST_NOTICE, POST = 40, "(?:댓글|글|게시[글물]|(?:상품|구매)?(?:리뷰|후기|평)|메시지|내용|의견|코멘트)"
NOTICES = re.compile(
    r"(?i)[\[(<]?(?:.{0,20}(?:삭제|블라인드|비공개|차단|숨김|신고|가려|규제|중단|조치)\S{0,4}(?: 처리)?\S{0,4} ?TEXT(?:입니다|이에요|임)?|"
    r"(?:해당|이|본) TEXT[은는이가] .{0,12}(?:삭제|블라인드|비공개|차단|숨김|중단)(?: ?처리)?(?:되었습니다|됐습니다|입니다)|"
    r"(?:아직 )?(?:(?:작성|등록|입력)(?:된|하신) )?(?:텍스트 ?)?TEXT(?: ?내용)?[이가은]? ?(?:없음|없습니다|없어요)|deleted|removed|"
    r"(?:별점|사진|포토|동영상)만 (?:등록|작성|첨부)\S{1,2} TEXT(?:입니다)?)[\])>]?\.?".replace("TEXT", POST)
)
# Web and mail addresses
ADDRESS = re.compile(
    r"(?:https?://|www\.)\S+|(?<!\S)\S[^\s@]*@\S+\.\w+|(?<![\w-])[\w-]+\.(?:com|net|org|kr|io|me)\b\S*", re.IGNORECASE
)
# Fewest tokens of a text that counts as Korean by its tokens alone
PLAIN_TOKENS = 4
HEARTS = "♥♡乃"
# Characters that are examined
EXAMINED = 1000
# Most other letters for each syllable; most words of a text in Latin letters
FOREIGN, LATIN_WORDS = 12, 4
# English words that say nothing about a film
COMMON = frozenset(
    "a an and are at be been but by can do ever everything film for from has have he her his how i in is it its just life "
    "me movie my no not of oh on one or our out she so that the they this time to too under us was we what when where who "
    "why will with world yes you your very really art goodbye nothing rock well".split()
)
# English words that praise (True) or blame by themselves; one of the TURNS reverses the sentence
VERDICTS = {word: side == "praise" for side in ("praise", "blame") for word in CONTENT["english"][side].split()}
TURNS = re.compile(r"\b(?:no|not|never|but|than|if|without)\b|n['`’]?t\b", re.IGNORECASE)
# Initials that stand for a verdict: 쓰레기, 씨발, 병신, 지랄, 미친, 꺼져, 별로, 감사, 추천, 괜찮다, 인정, 상타치, 하타치
INITIALS = frozenset("ㅆㄹㄱ ㅅㄹㄱ ㅅㅂ ㅆㅂ ㅂㅅ ㅄ ㅈㄹ ㅁㅊ ㄲㅈ ㅂㄹ ㄱㅅ ㄳ ㅊㅊ ㄱㅊ ㅇㅈ ㅅㅌㅊ ㅎㅌㅊ".split())


def replaced(text: str) -> Optional[str]:
    """Return LOST for a text that lost its letters, NOTICE for a site's notice, else None."""
    if "\ufffd" in text or "??" in text and 2 * len(QUESTIONED.findall(text)) > max(2, len(text.split())):
        return LOST
    return NOTICE if len(text) <= LONGEST_NOTICE and NOTICES.fullmatch(text) else None


@dataclass(frozen=True)
class Abstention:
    """Withholds the labels of reviews that have no evidence for one."""

    encoder: ReviewEncoder

    def reasons(self, reviews: Reviews, probabilities: Any) -> dict[int, Optional[str]]:
        """Return {position: `reason`} of reviews; for a Window, most of those without a reason are left out."""
        if not isinstance(reviews, Window):
            return dict(enumerate(map(self.reason, reviews, probabilities)))
        doubts, korean = map(reviews.count, self.tables)
        plain = (doubts == 0) | (reviews.lengths >= PLAIN_TOKENS) & (2 * doubts <= reviews.lengths)
        sure, texts = plain & (korean > 0), reviews.texts
        checked = numpy.flatnonzero(~sure | (reviews.classes & IS_SUSPECT > 0)).tolist()
        return {i: replaced(texts[i]) if sure[i] else self.reason(reviews[i], probabilities[i]) for i in checked}

    def reason(self, review: Encoded, probability: Optional[float] = None) -> Optional[str]:
        """Return why a review with tokens gets no label, or None; without a probability no verdict contradicts it."""
        text = review.text
        if why := replaced(text) or MARKS_ALONE.fullmatch(text) and NO_EVIDENCE:
            return why
        doubts = sum(map(self.doubtful.__contains__, review.ids))
        # fast path: most tokens are Korean words, signs or laughter
        is_plain = len(review) >= max(PLAIN_TOKENS, 2 * doubts) and SYLLABLE.search(text)
        has_label = not doubts or not self.is_korean or is_plain or self.has_evidence(review, probability)
        return None if has_label else NO_EVIDENCE

    @cached_property
    def is_korean(self) -> bool:
        """True if most words of the vocabulary are in Hangul; the rules fit no other model."""
        words = list(filter(ANY_LETTER.search, self.encoder.token_to_idx))
        return 2 * sum(map(bool, map(SYLLABLE.search, words))) > len(words)

    @cached_property
    def doubtful(self) -> frozenset[int]:
        """The ids of tokens that texts in other languages may have, laughter excluded."""
        plain = ((EXPRESSIVE.sub("", entry), index) for entry, index in self.encoder.token_to_idx.items())
        doubts = (index for entry, index in plain if not SYLLABLE.search(entry) and any(map(str.isalnum, entry)))
        return frozenset([self.encoder.unknown, *doubts])

    @cached_property
    def tables(self) -> Sequence[NDArray[numpy.bool_]]:
        """Two masks of the ids, (V,): doubtful ones, and those of words with a syllable."""
        syllables = [index for entry, index in self.encoder.token_to_idx.items() if SYLLABLE.search(entry)]
        return [*map(self.encoder.id_mask, (self.doubtful, syllables))]

    @cached_property
    def symbols(self) -> frozenset[int]:
        """The ids of ratings, emoji, hearts and 乃, a thumb up."""
        ids = self.encoder.token_to_idx
        return frozenset(ids[entry] for entry in (*ENTRIES, *HEARTS) if entry in ids and entry not in ENGLISH)

    def contradicts(self, text: str, probability: float) -> bool:
        """Return whether a text has an English verdict against its probability of positive."""
        forms, opposite = map(self.known_forms, WORD.findall(text)), (probability < 0.5) != bool(TURNS.search(text))
        return any(VERDICTS[word] == opposite for word in VERDICTS.keys() & set().union(*forms))

    def has_evidence(self, review: Encoded, probability: Optional[float]) -> bool:
        """Return whether a review is mostly Korean, has symbols or only known words, and no verdict against it."""
        text = ADDRESS.sub(" ", review.text[:EXAMINED])
        syllables = len(SYLLABLE.findall(text))
        if not syllables and probability is not None and self.contradicts(text, probability):
            return False
        if not self.symbols.isdisjoint(review.ids):
            return True
        if syllables:
            others = len(ANY_LETTER.findall(LONG_RUN.sub(r"\1", EXPRESSIVE.sub("", text)))) - syllables
            return others <= FOREIGN * syllables
        if not (words := WORD.findall(text)):
            return bool(text.strip()) and set(NUMBERS.findall(text)) <= {"10"}
        unclear = [word for word in words if word not in INITIALS and EXPRESSIVE.sub("", word)]
        return not unclear or self.has_known_words(unclear, text)

    def has_known_words(self, words: list[str], text: str) -> bool:
        """Return whether enough words of a text without Korean are in the vocabulary."""
        matches = [forms for forms in map(self.known_forms, words) if forms]
        # known verdicts do not outweigh far more unknown words
        if not TURNS.search(text) and any(forms & ENGLISH - COMMON for forms in matches):
            return 3 * sum(bool(forms - COMMON) for forms in matches) >= len(words) - len(matches)
        return len(words) <= LATIN_WORDS and 2 * len(matches) >= len(words) and any(forms - COMMON for forms in matches)

    def known_forms(self, word: str) -> set[str]:
        """Return a word's forms in the vocabulary, in lower case: as written, without repetitions (goodgood, not banana)."""
        sizes, lower = (size for size in range(2, len(word)) if len(word) % size == 0), word.lower()
        plain = next((lower[:size] for size in sizes if lower == lower[:size] * (len(word) // size)), lower)
        forms = {plain, LONG_RUN.sub(r"\1", plain), LONG_RUN.sub(r"\1\1", plain)} if len(word) > 1 else set()
        ids = self.encoder.token_to_idx
        return {form for form in forms if form in ids or form.title() in ids or (form == plain and word in ids)}
