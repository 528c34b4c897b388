"""Ratings, emoji and English verdicts as tokens: `text.symbols`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.text.encoding import ReviewEncoder, clean, tokenize_many
from nsmc_attention.text.preprocessing import build_vocab
from nsmc_attention.text.symbols import EMOJI, ENGLISH, RATINGS, SCALE, entry, rating, surface, symbols, with_symbols
from nsmc_attention.text.tokenizers import TextConfig, tokenizer

PIECES = st.sampled_from(
    [*"★☆⭐1259/.- 점별만영", "10점", "만점에", "별점", "👍🏻", "🤦‍♀️", "❤️", "😡", "good", "Sooo", "재밌다", "ㅋㅋ"]
)
TEXTS = st.lists(PIECES, max_size=12).map("".join).map(clean)


def entries(text: str) -> list[str]:
    return [name for _, _, name in symbols(clean(text))]


@given(TEXTS)
def test_symbols_are_apart_and_no_token_is_lost_or_has_white_space(text):
    found = symbols(text)
    assert all(start < end for start, end, _ in found)
    assert all(end <= start for (_, end, _), (start, _, _) in zip(found, found[1:]))
    words = with_symbols(text, tokenizer("mecab")(text), found)
    assert "".join(map(surface, words)) == text.replace(" ", "")
    assert not any(" " in surface(word) for word in words)
    named = [name for start, end, name in found if name != text[start:end]]
    assert [entry(word) for word in words if entry(word) != surface(word)] == named


@given(st.integers(1, 5).flatmap(lambda filled: st.tuples(st.just(filled), st.integers(0, 5 - filled))))
def test_every_way_to_write_a_rating_of_five_has_one_entry(numbers):
    filled, hollow = numbers
    expected = rating(filled, 5)
    stars = "★" * filled + "☆" * (5 - filled)
    for text in (stars, f"{filled}/5", f"{filled} / 5", f"5점 만점에 {filled}점", f"별점 {stars}", f"별 {filled}개"):
        assert [name for name in entries(text) if name != SCALE] == [expected], text


# decoration, dates, fractions, points that are taken off, other words
NO_SYMBOL = "★강추★|2015/10/5|나머지 4/5는|1점 깎는다|다만 길어서 -1점|사랑의 1/10 을|★☆ 재밌다|1점프 별로 초점 2019"


@pytest.mark.parametrize(
    "text, expected",
    [
        ("3-4점 수준", ["<4/10>"]),
        ("☆☆☆☆☆", ["<0/10>"]),
        ("⭐️⭐️", ["<4/10>"]),
        ("3.5/5", ["<7/10>"]),
        ("10점 만점에 3점", [SCALE, "<3/10>"]),
        ("100점 만점에 95점", [SCALE, "<10/10>"]),
        ("-10점", ["<0/10>"]),
        ("마이너스 10점", ["<0/10>"]),
        ("7", ["<7/10>"]),
        ("별 하나도 아깝다", ["<2/10>"]),
        ("👍🏽", ["<approval>"]),
        ("🤦‍♀️", ["<doubt>"]),
        ("Goooood", ["good"]),
        *((text, []) for text in NO_SYMBOL.split("|")),
    ],
)
def test_what_is_a_symbol(text, expected):
    assert entries(text) == expected


@given(st.lists(TEXTS, min_size=1, max_size=20))
def test_both_ways_to_encode_agree_and_give_symbols_their_entries(texts):
    config = TextConfig(symbols=1, rare_words="pieces", min_count=1, vocab_size=4000)
    token_lists = tokenize_many(texts, "mecab", 1)
    encoder = ReviewEncoder.from_json(build_vocab(token_lists, config).to_json(), config)
    together, apart = encoder.encode_many(texts), [encoder.encode_words(words) for words in token_lists]
    assert [(one.tokens, one.ids) for one in together] == [(one.tokens, one.ids) for one in apart]
    for text, review in zip(texts, together):
        assert [text[start:end] for start, end in review.offsets] == list(review.tokens)
        ids = [encoder.token_to_idx[name] for _, _, name in symbols(text)]
        assert [index for index in review.ids if index in set(ids)] == ids


def test_no_entry_is_twice():
    names = [*RATINGS, SCALE, *EMOJI, *ENGLISH]
    assert len(names) == len(set(names)) and len("".join(EMOJI.values())) == len(set("".join(EMOJI.values())))
