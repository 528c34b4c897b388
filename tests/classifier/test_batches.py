"""Batches of a training: every review once, as prediction reads it, in an order that the seed decides."""

from dataclasses import replace

import numpy
import pytest

from nsmc_attention.classifier.batches import Batches, bucket_lengths
from nsmc_attention.text.encoding import ReviewEncoder


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


@pytest.mark.parametrize("fixed_length, buckets", [(None, 0), (30, 0), (None, 1000)])
def test_an_epoch_has_every_review_once_as_prediction_reads_it(reviews, encoder, fixed_length, buckets):
    encoder = replace(encoder, ngram_buckets=buckets, max_length=fixed_length or 256)
    importance = [numpy.arange(len(tokens[:fixed_length])) + 1.0 for tokens in reviews]
    whole = batches(reviews, encoder, fixed_length, importance)
    epoch = list(whole.epoch(seed=1, epoch=0))
    assert len(epoch) == len(whole)
    assert sorted(numpy.concatenate([batch.labels for batch in epoch])) == list(range(500))
    for batch in epoch:
        members, width = batch.labels.astype(int), batch.token_ids.shape[1]
        expected = encoder.batch(encode(encoder, [reviews[member] for member in members]), width)
        given = (batch.token_ids, batch.valid_length, *([batch.ngram_ids] if buckets else []))
        assert len(given) == len(expected) and all(map(numpy.array_equal, given, expected))
        for row, member in zip(batch.importance, members):
            assert row.sum() == importance[member].sum() and row[0] == 1


@pytest.mark.parametrize("buckets", [0, 1000])
def test_beside_a_review_is_the_one_without_its_erased_token(reviews, encoder, buckets):
    encoder = replace(encoder, ngram_buckets=buckets)
    random, kept = numpy.random.RandomState(3), [tokens for tokens in reviews if len(tokens) > 1]
    encoded, erased = encode(encoder, kept), random.randint([len(tokens) for tokens in kept])
    whole = Batches(encoded, numpy.arange(len(kept)), encoder, 32, erased=erased)
    for batch in whole.epoch(seed=1, epoch=0):
        members, left = batch.labels.astype(int), batch.without
        assert batch.erased.tolist() == erased[members].tolist()
        expected = encoder.batch([encoded[i].without(erased[i]) for i in members], batch.token_ids.shape[1])
        given = (left.token_ids, left.valid_length, *([left.ngram_ids] if buckets else []))
        assert len(given) == len(expected) and all(map(numpy.array_equal, given, expected))


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
        assert batch.ngram_ids is None
    assert len(Batches(encode(encoder, [["t0"]] * 4), [0, 1, 0, 1], encoder, 2)) == 2
