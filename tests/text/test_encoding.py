import itertools
import json
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nsmc_attention.errors import BundleError
from nsmc_attention.text.encoding import ReviewEncoder, clean, longest_pieces
from nsmc_attention.text.hangul import FEW_MARKS, composed
from nsmc_attention.text.tokenizers import TextConfig

ANY = st.text(st.characters(min_codepoint=0, max_codepoint=0x10FFFF, exclude_categories=()))
SPECIAL = {"unknown_token": "<unk>", "identifiers_to_tokens": {"padding_token": "<pad>"}}
VOCABULARY = json.dumps({"token_to_idx": {"<unk>": 0, "<pad>": 1, "영화": 2}, **SPECIAL})


@pytest.mark.parametrize(
    "review, text",
    [
        ("\u1112\u1161\u11ab글", "한글"),
        ("ㅋㅋㅋ", "ㅋㅋㅋ"),
        ("가\0나", "가나"),
        ("가\ud83d나", "가나"),
        (" 가\u3000\u2028나\r\n", "가 나"),
        ("👨‍👩‍👧 좋다", "👨‍👩‍👧 좋다"),
        ("\ufeff", ""),
        ("\u200b \u3164", ""),
        ("\u1112\u0000\u1161", "하"),
        *((f"{filler} {filler}", "") for filler in "\u115f\u1160\u3164\uffa0\u200d\xad"),
        *((f"가{filler}", "가") for filler in "\u115f\u1160\u3164\uffa0\u200d\xad"),
        ("&#51221;&#47568; &lt;br&gt;", "정말 <br>"),
        ("&#xC815;말&nbsp;&amp;quot;최고&amp;quot;", '정말 "최고"'),
        ("Q&A, R&B; &없음; &notanentity; a & b;", "Q&A, R&B; &없음; &notanentity; a & b;"),
    ],
)
def test_clean_examples(review, text):
    assert clean(review) == text == clean(text)


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "[]",
        "{",
        "null",
        b"\xff",
        '{"token_to_idx": []}',
        VOCABULARY.replace('"unknown_token"', '"x"'),
        VOCABULARY.replace("<pad>", "<pod>", 1),
        VOCABULARY.replace("2}", "7}"),
        VOCABULARY.replace("2}", '"2"}'),
        VOCABULARY.replace('"padding_token": "<pad>"', '"padding_token": "<unk>"'),
        *(VOCABULARY.replace('"<pad>": 1', f'"<pad>": {number}') for number in ("0", "3", "true", "1.0", "-1")),
        "[" * 100000,
    ],
)
def test_a_file_that_is_no_vocabulary_is_refused(broken):
    with pytest.raises(BundleError, match="vocab.json: expected"):
        ReviewEncoder.from_json(broken, TextConfig())


@given(st.text("가나다라ab", max_size=12), st.sets(st.text("가나다라ab", min_size=1, max_size=3)))
def test_pieces_of_a_word_give_the_word_back_and_are_the_longest(word, known):
    found = longest_pieces(word, known)
    assert "".join(found) == word
    start = 0
    for piece in found:
        assert piece in known or len(piece) == 1
        assert not any(word[start:end] in known for end in range(start + len(piece) + 1, len(word) + 1))
        start += len(piece)


@given(ANY)
def test_cutting_rare_words_keeps_offsets_and_limit(review):
    encoder = ReviewEncoder.from_json(VOCABULARY, TextConfig(rare_words="pieces", max_length=8))
    encoded = encoder.encode(review)
    assert len(encoded.tokens) <= 8
    assert [encoded.text[a:b] for a, b in encoded.offsets] == list(encoded.tokens)
    assert all(len(token) == 1 or token in encoder.token_to_idx for token in encoded.tokens)


def test_padding_a_batch_keeps_ids_in_their_rows():
    known = {"<unk>": 0, "<pad>": 1, "가": 2, "나": 3}
    encoder = ReviewEncoder("whitespace", known, 0, 1, 4)
    ids, lengths = encoder.batch([encoder.encode(text) for text in ("가 나", "나", "다 가 가")])
    assert ids.tolist() == [[2, 3, 1], [3, 1, 1], [0, 2, 2]] and lengths.tolist() == [2, 1, 3]
    assert encoder.batch([encoder.encode("가")], 4)[0].tolist() == [[2, 1, 1, 1]]


def test_a_vocabulary_may_be_bytes_and_has_a_length():
    one, other = (ReviewEncoder.from_json(content, TextConfig()) for content in (VOCABULARY.encode(), VOCABULARY))
    assert one == other
    encoder = ReviewEncoder.from_json(VOCABULARY, TextConfig(max_length=7, rare_words="pieces", ngram_buckets=9))
    assert (len(encoder), encoder.unknown, encoder.padding, encoder.max_length) == (3, 0, 1, 7)
    assert list(encoder.encode_words(["영화", "없"]).ids) == [2, encoder.unknown]
    turned = VOCABULARY.replace('"<unk>": 0, "<pad>": 1', '"<pad>": 0, "<unk>": 1')
    assert ReviewEncoder.from_json(turned, TextConfig()).unknown == 1
    assert encoder.cut_rare and encoder.ngram_buckets == 9 and encoder.tokenizer_name == "mecab"
    assert not ReviewEncoder.from_json(VOCABULARY, TextConfig()).cut_rare


def test_what_is_beyond_is_not_read():
    encoder = ReviewEncoder("whitespace", {"<unk>": 0, "<pad>": 1, "가": 2}, 0, 1, 3)
    review = encoder.encode_words(["가"] * 5)
    assert review.ids == (2,) * 3 and review.tokens == ("가",) * 3
    assert encoder.units(["가가"]) == ["가가"], "rare words are cut where that is asked for alone"
    assert encoder.encode("가 나 다 라").tokens == ("가", "나", "다")


def test_a_piece_has_at_most_so_many_characters():
    assert longest_pieces("가" * 130, {"가" * 65, "가" * 64}) == ["가" * 64, "가" * 64, "가", "가"]


def test_a_batch_has_ngrams_where_there_are_any():
    encoder = ReviewEncoder("whitespace", {"<unk>": 0, "<pad>": 1}, 0, 1, 4, ngram_buckets=100)
    ids, lengths, ngrams = encoder.batch([encoder.encode("영화"), encoder.encode("좋다 !")], 3)
    assert ids.dtype == lengths.dtype == ngrams.dtype == "int32"
    assert ngrams.shape == (2, 3, 8) and ngrams[0, 0].any() and not ngrams[0, 1:].any()


MARKS = st.text("\u0301\u0316\u0323\u0344\u0345\u0f71\u0f73\u3099", min_size=10, max_size=40)


def most_marks(text):
    """How many combining marks stand in a row at most, each character taken apart."""
    runs = itertools.groupby(unicodedata.normalize("NFD", text), lambda part: bool(unicodedata.combining(part)))
    return max((len(list(run)) for combining, run in runs if combining), default=0)


@pytest.mark.parametrize("marks", ["\u0316\u0301", "\u0301\u0316", "\u0344", "\u0f73", "\u0f73\u0301", "\u0f81\u0344"])
@pytest.mark.parametrize("before", range(FEW_MARKS + 2))
def test_of_many_combining_marks_thirty_are_kept(marks, before):
    text = composed("가" * before + f"e{marks * 20000}다")
    assert most_marks(text) == 30 and text == composed(text)
    assert text.startswith("가" * before) and text.endswith("다")


@example([("x", "\u0316" * 31)])
@given(st.lists(st.tuples(st.sampled_from("aeǘᾂ가 か\u1112"), MARKS), max_size=4))
def test_up_to_thirty_marks_stay_as_nfc_has_them(syllables):
    text = "".join(map("".join, syllables))
    assert composed(text) == composed(composed(text)) == unicodedata.normalize("NFC", composed(text))
    assert most_marks(composed(text)) == min(30, most_marks(text))
    assert most_marks(text) > 30 or composed(text) == unicodedata.normalize("NFC", text)
