from dataclasses import FrozenInstanceError, replace
from hashlib import sha256

import numpy
import pytest

from nsmc_attention.classification.batches import Batches, bucket_lengths
from nsmc_attention.errors import NsmcError
from nsmc_attention.reviews import nsmc
from nsmc_attention.text.encoding import ReviewEncoder
from nsmc_attention.text.settings import TextConfig
from nsmc_attention.text.token_cache import cached_tokens, tokenize_many
from nsmc_attention.text.vocabulary import build_vocab, gluonnlp


def by_gluonnlp(vocab, tokens, length):
    """GluonNLP's own tokens -> ids: Vocab, then ClipSequence."""
    return gluonnlp.data.ClipSequence(length)(vocab[list(tokens)]) if tokens else []


@pytest.fixture(scope="module")
def documents():
    return nsmc.load("sample", "train").documents


@pytest.fixture(scope="module")
def token_lists(documents):
    return tokenize_many(documents, "mecab")


def test_both_ways_to_ids_agree(token_lists, documents):
    config = TextConfig(max_length=9)
    vocab = build_vocab(token_lists, config)
    encoder = ReviewEncoder.from_json(vocab.to_json(), config)
    unseen = nsmc.load("sample", "test").documents
    for review, tokens in zip(documents + unseen, token_lists + tokenize_many(unseen, "mecab")):
        assert (
            by_gluonnlp(vocab, tokens, 9)
            == list(encoder.encode_words(tokens).ids)
            == list(encoder.encode_words(encoder.encode(review).tokens).ids)
        )


def test_the_vocabulary_is_the_same_to_the_byte_whatever_the_order(token_lists):
    config = TextConfig(vocab_size=300)
    vocab = build_vocab(token_lists, config)
    assert vocab.to_json() == build_vocab(token_lists[::-1], config).to_json()
    assert len(vocab) == 300 and vocab[vocab.padding_token] != vocab[vocab.unknown_token]


@pytest.mark.parametrize("size", [300, 900])
def test_with_pieces_the_vocabulary_holds_the_characters_of_rare_words(token_lists, size):
    config = TextConfig(vocab_size=size, min_count=1, rare_words="pieces")
    vocab = build_vocab(token_lists, config)
    assert len(vocab) <= size
    assert vocab.to_json() == build_vocab(token_lists[::-1], config).to_json()
    encoder = ReviewEncoder.from_json(vocab.to_json(), config)
    unknown = 0
    for tokens in token_lists:
        units = encoder.units(tokens)
        assert "".join(units) == "".join(tokens) and by_gluonnlp(vocab, units, 256) == list(
            encoder.encode_words(units).ids
        )
        unknown += list(encoder.encode_words(units).ids).count(encoder.unknown)
    assert unknown == 0 or size == 300


@pytest.fixture(scope="module")
def reviews():
    """500 reviews of 1 to 119 tokens, each of one token that no other has."""
    lengths = numpy.random.RandomState(0).randint(1, 120, 500)
    return [[f"t{index}"] * length for index, length in enumerate(lengths)]


@pytest.fixture(scope="module")
def encoder(reviews):
    known = {"<unk>": 0, "<pad>": 1, **{tokens[0]: index + 2 for index, tokens in enumerate(reviews)}}
    return ReviewEncoder("whitespace", known, 0, 1, 256)


def encode(encoder, token_lists):
    return [encoder.encode_words(tokens) for tokens in token_lists]


def batches(reviews, encoder, fixed_length=None, importance=None):
    encoder = replace(encoder, max_length=fixed_length or encoder.max_length)
    return Batches(encode(encoder, reviews), numpy.arange(500), encoder, 32, fixed_length, importance)


@pytest.mark.parametrize("fixed_length", [None, 30])
def test_an_epoch_has_every_review_once_with_its_own_label(reviews, encoder, fixed_length):
    whole = batches(reviews, encoder, fixed_length)
    found = list(whole.epoch(seed=1, epoch=0))
    assert len(found) == len(whole)
    assert sorted(numpy.concatenate([batch.labels for batch in found])) == list(range(500))
    for batch in found:
        for ids, length, label in zip(batch.token_ids, batch.valid_length, batch.labels):
            expected = list(encoder.encode_words(reviews[int(label)]).ids)[:fixed_length]
            assert ids[: len(expected)].tolist() == expected and set(ids[len(expected) :]) <= {1}
            assert length == len(expected)


def test_a_batch_is_what_prediction_makes_of_the_same_tokens(reviews, encoder):
    importance = [numpy.arange(len(tokens)) + 1.0 for tokens in reviews]
    for batch in batches(reviews, encoder, importance=importance).epoch(seed=1, epoch=0):
        members = batch.labels.astype(int)
        expected = encoder.batch([encoder.encode_words(reviews[i]) for i in members], batch.token_ids.shape[1])
        for one, other in zip((batch.token_ids, batch.valid_length), expected):
            assert numpy.array_equal(one, other)
        for row, member in zip(batch.importance, members):
            assert row.sum() == importance[member].sum() and row[0] == 1


def test_short_reviews_are_batched_without_padding(reviews, encoder):
    for batch in batches(reviews, encoder).epoch(0, 0):
        assert batch.token_ids.shape[1] - batch.valid_length.min() < (1 if batch.valid_length.max() <= 48 else 16)


def test_seed_and_epoch_alone_decide_the_order(reviews, encoder):
    def order(seed, epoch, before=0):
        whole = batches(reviews, encoder)
        for earlier in range(before):
            list(whole.epoch(seed, earlier))
        return numpy.concatenate([batch.labels for batch in whole.epoch(seed, epoch)]).tolist()

    assert order(1, 2) == order(1, 2, before=2)
    assert order(1, 2) != order(1, 3) and order(1, 2) != order(2, 2)


def test_prepared_tokens_are_read_back_as_they_were(tmp_path, documents, token_lists):
    reviews = [*documents, "", " "]
    first = cached_tokens(reviews, "mecab", tmp_path)
    assert first == [*token_lists, [], []] == cached_tokens(reviews, "mecab", tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    for others, tokenizer in ((reviews, "characters"), (["ab", "c"], "characters"), (["a", "bc"], "characters")):
        cached_tokens(others, tokenizer, tmp_path)
    assert len(list(tmp_path.iterdir())) == 4, "what decides the tokens is in the name"


@pytest.mark.slow
def test_worker_processes_give_what_one_process_gives(documents):
    many = documents * 40
    assert tokenize_many(many, "mecab", processes=2) == tokenize_many(many, "mecab", processes=1)


def test_ids_go_by_falling_count_and_ties_by_code_point():
    counted = [["나"] * 3, ["가"] * 3, ["다"] * 2, ["라"], ["마"] * 4]

    def entries(**settings):
        return build_vocab(counted, TextConfig(**settings)).idx_to_token

    assert entries() == ["<unk>", "<pad>", "마", "가", "나", "다"]
    assert entries(min_count=1) == ["<unk>", "<pad>", "마", "가", "나", "다", "라"]
    assert entries(vocab_size=4) == ["<unk>", "<pad>", "마", "가"]
    assert entries(vocab_size=3) == ["<unk>", "<pad>", "마"]
    counted = [["가나"] * 3, ["다라"] * 2]
    assert entries(vocab_size=3) == ["<unk>", "<pad>", "가나"], "characters are kept for pieces alone"


def test_with_pieces_words_give_way_to_the_characters_of_what_is_left_out():
    counted = [["가나"] * 5, ["다라"] * 4, ["다"] * 3, ["바사"] * 2, ["아"]]

    def entries(size, min_count=2):
        return build_vocab(counted, TextConfig(vocab_size=size, min_count=min_count, rare_words="pieces")).idx_to_token

    # all words fit, and what is rarer than asked is no character either
    assert entries(20) == ["<unk>", "<pad>", "가나", "다라", "다", "바사"]
    assert entries(20, 1) == ["<unk>", "<pad>", "가나", "다라", "다", "바사", "아"]
    # just enough places
    assert entries(6) == ["<unk>", "<pad>", "가나", "다라", "다", "바사"]
    # three: 바 and 사 want two of them, but without 다라 and 다 there are four characters, so no word is left
    assert entries(5) == ["<unk>", "<pad>", "다", "가", "나"]
    assert entries(4) == ["<unk>", "<pad>", "다", "가"]


def test_every_short_length_has_a_bucket_and_long_ones_share():
    exact = list(range(1, 49))
    assert bucket_lengths(5) == [1, 2, 3, 4, 5] and bucket_lengths(48) == exact
    assert bucket_lengths(49) == bucket_lengths(64) == [*exact, 64]
    assert bucket_lengths(65) == [*exact, 64, 80] and bucket_lengths(256) == [*exact, *range(64, 257, 16)]


def test_reviews_longer_than_are_read_are_clipped_and_the_last_batch_is_smaller(encoder):
    whole = Batches(encode(encoder, [["t0"] * 300, ["t1"] * 256, ["t2"] * 300]), [0, 1, 0.25], encoder, 2)
    assert whole.lengths.tolist() == [256, 256, 256] and len(whole) == 2
    found = [(positions.tolist(), batch) for positions, batch in whole.in_order()]
    assert sorted(len(positions) for positions, _ in found) == [1, 2]
    for positions, batch in found:
        assert batch.token_ids.shape == (len(positions), 256) and batch.token_ids.dtype == numpy.int32
        assert batch.labels.tolist() == [[0, 1, 0.25][position] for position in positions]
        assert batch.importance is None and batch.ngram_ids is None
        assert batch.take([0]).labels.tolist() == [batch.labels[0]]
    assert len(Batches(encode(encoder, [["t0"]] * 4), [0, 1, 0, 1], encoder, 2)) == 2


def test_in_order_is_the_same_at_each_call_and_has_all(reviews, encoder):
    whole = batches(reviews, encoder)
    once, again = ([positions.tolist() for positions, _ in whole.in_order()] for _ in range(2))
    assert once == again and sorted(sum(once, [])) == list(range(500))
    with pytest.raises(FrozenInstanceError):
        next(whole.in_order())[1].labels = None


def test_ngrams_stand_beside_their_tokens_where_they_are_wanted():
    texts = [["영화", "좋다"], ["나쁘다"], ["좋다", "영화"]]
    wide = ReviewEncoder("whitespace", {"<unk>": 0, "<pad>": 1}, 0, 1, 256, ngram_buckets=1000)
    for positions, batch in Batches(encode(wide, texts), [1, 0, 1], wide, 8).in_order():
        expected = wide.batch([wide.encode_words(texts[position]) for position in positions])[2]
        assert numpy.array_equal(batch.ngram_ids, expected) and batch.ngram_ids.any()


def test_prepared_tokens_that_do_not_fit_are_prepared_again(tmp_path):
    reviews = ["영화 좋다", "나쁘다", "가\ud800나"]
    expected = tokenize_many(reviews, "characters")
    assert cached_tokens(reviews, "characters", tmp_path / "new" / "er") == expected
    (path,) = (tmp_path / "new" / "er").iterdir()
    assert path.name.startswith("tokens-") and len(path.stem) == len("tokens-") + 32
    written = path.read_bytes()
    content = "영\x1f화\x1f좋\x1f다\n나\x1f쁘\x1f다\n가\x1f나".encode()
    assert written == sha256(content).hexdigest().encode() + b"\n" + content
    altered = written.replace("쁘".encode(), "뿌".encode())
    for other in (b"", content, b"\xff\xfe\n\n", altered, written[:-1], written + b"\n"):
        path.write_bytes(other)
        assert cached_tokens(reviews, "characters", tmp_path / "new" / "er") == expected
        assert path.read_bytes() == written


def test_a_cache_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NsmcError, match="cannot be written: .*set NSMC_ATTENTION_CACHE to a folder with room"):
        cached_tokens(["가"], "characters", tmp_path / "file" / "below")
