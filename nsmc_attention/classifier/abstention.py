"""Whether a classifier can judge a text: other languages, addresses, digits, damaged texts and notices get no label.

A text is judged if it has Korean words, ratings or emoji of the vocabulary, or nothing but words and signs that it knows
(good, ㅋㅋㅋ, ^^), but not against an English verdict. Only the label is withheld: each text with a token has a probability.
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
# Laughing, crying and sighing mean something by themselves; other letters alone do where the vocabulary has them together
EXPRESSIVE = re.compile("[ㅋㅎㅠㅜㅡㅗㅉㄷ]")
WORD, NUMBERS = re.compile(r"[^\W\d_]+"), re.compile(r"(?<!\.)(?:\.*\d)+")
# Nothing but marks that end or part sentences; a word whose letters were replaced by question marks
MARKS_ALONE, QUESTIONED = re.compile(r"[?!.,…~·。！？\s]+"), re.compile(r"(?<!\S)\?+(?!\S)")
# What a site writes in place of a text that was deleted or hidden, or of none, of so many characters at most
LONGEST_NOTICE, WRITTEN = 40, "(?:댓글|글|게시[글물]|(?:상품|구매)?(?:리뷰|후기|평)|메시지|내용|의견|코멘트)"
NOTICES = re.compile(
    r"(?i)[\[(<]?(?:.{0,20}(?:삭제|블라인드|비공개|차단|숨김|신고|가려|규제|중단|조치)\S{0,4}(?: 처리)?\S{0,4} ?TEXT(?:입니다|이에요|임)?|"
    r"(?:해당|이|본) TEXT[은는이가] .{0,12}(?:삭제|블라인드|비공개|차단|숨김|중단)(?: ?처리)?(?:되었습니다|됐습니다|입니다)|"
    r"(?:아직 )?(?:(?:작성|등록|입력)(?:된|하신) )?(?:텍스트 ?)?TEXT(?: ?내용)?[이가은]? ?(?:없음|없습니다|없어요)|deleted|removed|"
    r"(?:별점|사진|포토|동영상)만 (?:등록|작성|첨부)\S{1,2} TEXT(?:입니다)?)[\])>]?\.?".replace("TEXT", WRITTEN)
)
# The whole of goodgoodgood, no part of a word (banana)
REPEATED = re.compile(r"^(\w{2,}?)\1+$")
# A page, an address of mail
ADDRESS = re.compile(
    r"(?:https?://|www\.)\S+|(?<!\S)\S[^\s@]*@\S+\.\w+|(?<![\w-])[\w-]+\.(?:com|net|org|kr|io|me)\b\S*", re.IGNORECASE
)
# Tokens of a text that is soon seen to be Korean, at least
PLAIN_TOKENS = 4
HEARTS = "♥♡乃"
# Characters that are looked at: REPEATED takes the square of their number
LOOKED_AT = 1000
# Syllables may stand beside so many times as many other letters; a text in Latin letters has so many words at most
FOREIGN, LATIN_WORDS = 12, 4
# English words that say nothing about a film
COMMON = frozenset(
    "a an and are at be been but by can do ever everything film for from has have he her his how i in is it its just life "
    "me movie my no not of oh on one or our out she so that the they this time to too under us was we what when where who "
    "why will with world yes you your very really art goodbye nothing rock well".split()
)
# English words that praise (True) or blame whatever is beside them; a sentence with one of the turns says the opposite
VERDICTS = {word: side == "praise" for side in ("praise", "blame") for word in CONTENT["english"][side].split()}
TURNS = re.compile(r"\b(?:no|not|never|but|than|if|without)\b|n['`’]?t\b", re.IGNORECASE)
# First letters that stand for a verdict: 쓰레기, 씨발, 병신, 지랄, 미친, 꺼져, 별로, 감사, 추천, 괜찮다, 인정, 상타치, 하타치
INITIALS = frozenset("ㅆㄹㄱ ㅅㄹㄱ ㅅㅂ ㅆㅂ ㅂㅅ ㅄ ㅈㄹ ㅁㅊ ㄲㅈ ㅂㄹ ㄱㅅ ㄳ ㅊㅊ ㄱㅊ ㅇㅈ ㅅㅌㅊ ㅎㅌㅊ".split())


def replaced(text: str) -> Optional[str]:
    """Return why a text is not what somebody wrote: letters are lost, or a site's notice stands in its place."""
    if "\ufffd" in text or "??" in text and 2 * len(QUESTIONED.findall(text)) > max(2, len(text.split())):
        return LOST
    return NOTICE if len(text) <= LONGEST_NOTICE and NOTICES.fullmatch(text) else None


@dataclass(frozen=True)
class Abstention:
    """The reviews of an encoder from which the classifier withholds a label, because there is nothing to judge by."""

    encoder: ReviewEncoder

    def reasons(self, reviews: Reviews, probabilities: Any) -> dict[int, Optional[str]]:
        """Return {place: `reason`} of reviews; of those in arrays, without most of those that have none."""
        if not isinstance(reviews, Window):
            return dict(enumerate(map(self.reason, reviews, probabilities)))
        doubts, korean = map(reviews.count, self.tables)
        plain = (doubts == 0) | (reviews.lengths >= PLAIN_TOKENS) & (2 * doubts <= reviews.lengths)
        sure, texts = plain & (korean > 0), reviews.texts
        some = numpy.flatnonzero(~sure | (reviews.classes & IS_SUSPECT > 0)).tolist()
        return {at: replaced(texts[at]) if sure[at] else self.reason(reviews[at], probabilities[at]) for at in some}

    def reason(self, review: Encoded, probability: Optional[float] = None) -> Optional[str]:
        """Return why a review with tokens gets no label, None where it gets one; without a probability, any label."""
        text = review.text
        if why := replaced(text) or MARKS_ALONE.fullmatch(text) and NO_EVIDENCE:
            return why
        doubts = sum(map(self.doubtful.__contains__, review.ids))
        # most tokens are Korean words, signs or laughter: what is soon seen
        is_plain = len(review) >= max(PLAIN_TOKENS, 2 * doubts) and SYLLABLE.search(text)
        judged = not doubts or not self.is_korean or is_plain or self.has_evidence(review, probability)
        return None if judged else NO_EVIDENCE

    @cached_property
    def is_korean(self) -> bool:
        """True if most words of the vocabulary are written in Hangul: a rule for Korean fits no other model."""
        words = list(filter(ANY_LETTER.search, self.encoder.token_to_idx))
        return 2 * sum(map(bool, map(SYLLABLE.search, words))) > len(words)

    @cached_property
    def doubtful(self) -> frozenset[int]:
        """The ids of tokens that a text may have without being Korean."""
        # but laughter
        plain = ((EXPRESSIVE.sub("", entry), index) for entry, index in self.encoder.token_to_idx.items())
        doubts = (index for entry, index in plain if not SYLLABLE.search(entry) and any(map(str.isalnum, entry)))
        return frozenset([self.encoder.unknown, *doubts])

    @cached_property
    def tables(self) -> Sequence[NDArray[numpy.bool_]]:
        """Which ids are doubtful, and which those of words with a syllable, (V,)."""
        syllables = [index for entry, index in self.encoder.token_to_idx.items() if SYLLABLE.search(entry)]
        return [*map(self.encoder.table, (self.doubtful, syllables))]

    @cached_property
    def symbols(self) -> frozenset[int]:
        """The ids of ratings, emoji, hearts and 乃, a thumb up."""
        known = self.encoder.token_to_idx
        return frozenset(known[entry] for entry in (*ENTRIES, *HEARTS) if entry in known and entry not in ENGLISH)

    def contradicts(self, text: str, probability: float) -> bool:
        """Return whether a text has an English verdict that is not of the side of its probability of positive."""
        known, opposite = map(self.known_forms, WORD.findall(text)), (probability < 0.5) != bool(TURNS.search(text))
        return any(VERDICTS[word] == opposite for word in VERDICTS.keys() & set().union(*known))

    def has_evidence(self, review: Encoded, probability: Optional[float]) -> bool:
        """Return whether a review is mostly Korean, has symbols or only known words, and no verdict against it."""
        text = ADDRESS.sub(" ", review.text[:LOOKED_AT])
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
        """Return whether some words of a text without Korean say something that the vocabulary knows."""
        known = [forms for forms in map(self.known_forms, words) if forms]
        # not where far more words are unknown
        if not TURNS.search(text) and any(forms & ENGLISH - COMMON for forms in known):
            return 3 * sum(bool(forms - COMMON) for forms in known) >= len(words) - len(known)
        return len(words) <= LATIN_WORDS and 2 * len(known) >= len(words) and any(forms - COMMON for forms in known)

    def known_forms(self, word: str) -> set[str]:
        """Return the forms of a word that the vocabulary has, in small letters: as written, and without repetitions."""
        plain = REPEATED.sub(r"\1", word.lower())
        forms = {plain, LONG_RUN.sub(r"\1", plain), LONG_RUN.sub(r"\1\1", plain)} if len(word) > 1 else set()
        known = self.encoder.token_to_idx
        return {form for form in forms if form in known or form.title() in known or (form == plain and word in known)}
