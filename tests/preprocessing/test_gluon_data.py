import numpy
import pytest

from nsmc_attention.config import TextConfig
from nsmc_attention.preprocessing.encoding import Encoder
from nsmc_attention.preprocessing.gluon_data import Batches, build_vocab, sequence_transform
from nsmc_attention.preprocessing.prepared import cached_tokens, tokenize_many
from nsmc_attention.reviews import nsmc


@pytest.fixture(scope="module")
def documents():
    return nsmc.load("sample", "train").documents


@pytest.fixture(scope="module")
def token_lists(documents):
    return tokenize_many(documents, "mecab")


def test_both_ways_to_ids_agree(token_lists, documents):
    config = TextConfig(max_length=9)
    vocab = build_vocab(token_lists, config)
    encoder = Encoder.from_json(vocab.to_json(), config)
    by_gluonnlp = sequence_transform(vocab, 9)
    unseen = nsmc.load("sample", "test").documents
    for review, tokens in zip(documents + unseen, token_lists + tokenize_many(unseen, "mecab")):
        assert by_gluonnlp(tokens) == encoder.ids(tokens) == encoder.ids(encoder.encode(review).tokens)


def test_both_ways_agree_on_the_whole_corpus(nsmc_folder):
    reviews = nsmc.load("nsmc", "test").documents
    tokens = tokenize_many(reviews, "mecab")
    vocab = build_vocab(tokens, TextConfig())
    encoder = Encoder.from_json(vocab.to_json(), TextConfig())
    by_gluonnlp = sequence_transform(vocab, 256)
    assert [by_gluonnlp(each) for each in tokens] == [encoder.ids(each) for each in tokens]
    # 140 characters a review: the default limit loses nothing
    assert max(map(len, tokens)) < TextConfig().max_length


def test_the_vocabulary_is_the_same_to_the_byte_whatever_the_order(token_lists):
    config = TextConfig(vocab_size=300)
    assert build_vocab(token_lists, config).to_json() == build_vocab(token_lists[::-1], config).to_json()
    assert len(build_vocab(token_lists, config)) == 300


@pytest.mark.parametrize("size", [300, 900])
def test_with_pieces_the_vocabulary_holds_the_characters_of_rare_words(token_lists, size):
    config = TextConfig(vocab_size=size, min_count=1, rare_words="pieces")
    vocab = build_vocab(token_lists, config)
    assert len(vocab) <= size
    assert vocab.to_json() == build_vocab(token_lists[::-1], config).to_json()
    encoder = Encoder.from_json(vocab.to_json(), config)
    by_gluonnlp = sequence_transform(vocab, config.max_length)
    unknown = 0
    for tokens in token_lists:
        units = encoder.units(tokens)
        assert "".join(units) == "".join(tokens) and by_gluonnlp(units) == encoder.ids(units)
        unknown += encoder.ids(units).count(encoder.unknown)
    assert unknown == 0 or size == 300


def test_padding_is_not_the_unknown_id(token_lists):
    vocab = build_vocab(token_lists, TextConfig())
    assert vocab[vocab.padding_token] != vocab[vocab.unknown_token]
    assert sequence_transform(vocab, 4, pad=True)([]) == [vocab["<pad>"]] * 4


@pytest.fixture(scope="module")
def reviews():
    """500 reviews of 1 to 119 tokens, each of one token that no other has."""
    lengths = numpy.random.RandomState(0).randint(1, 120, 500)
    return [[f"t{index}"] * length for index, length in enumerate(lengths)]


@pytest.fixture(scope="module")
def encoder(reviews):
    known = {"<unk>": 0, "<pad>": 1, **{tokens[0]: index + 2 for index, tokens in enumerate(reviews)}}
    return Encoder("whitespace", known, 0, 1, 256)


def batches(reviews, encoder, fixed_length=None, importance=None):
    return Batches(reviews, numpy.arange(500), encoder, 32, fixed_length, importance)


@pytest.mark.parametrize("fixed_length", [None, 30])
def test_an_epoch_has_every_review_once_with_its_own_label(reviews, encoder, fixed_length):
    whole = batches(reviews, encoder, fixed_length)
    found = list(whole.epoch(seed=1, epoch=0))
    assert len(found) == len(whole)
    assert sorted(numpy.concatenate([batch.labels for batch in found])) == list(range(500))
    for batch in found:
        for ids, length, label in zip(batch.token_ids, batch.valid_length, batch.labels):
            expected = encoder.ids(reviews[int(label)])[:fixed_length]
            assert ids[:len(expected)].tolist() == expected and set(ids[len(expected):]) <= {1}
            assert length == len(expected)


def test_a_batch_is_what_prediction_makes_of_the_same_tokens(reviews, encoder):
    importance = [numpy.arange(len(tokens)) + 1.0 for tokens in reviews]
    for batch in batches(reviews, encoder, importance=importance).epoch(seed=1, epoch=0):
        members = batch.labels.astype(int)
        expected = encoder.batch([reviews[member] for member in members], batch.token_ids.shape[1])
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
    cached_tokens(reviews, "characters", tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_worker_processes_give_what_one_process_gives(documents):
    many = documents * 40
    assert tokenize_many(many, "mecab", processes=2) == tokenize_many(many, "mecab", processes=1)
