"""The words that get an id, and prepared tokens kept from one training to the next."""

import pytest

from nsmc_attention import load_reviews
from nsmc_attention.corpora import nsmc
from nsmc_attention.text.encoding import ReviewEncoder, clean, tokenize_many
from nsmc_attention.text.preprocessing import build_vocab, numbering
from nsmc_attention.text.tokenizers import TextConfig, pip_mecab

SETTINGS = TextConfig(ngram_buckets=0)


@pytest.mark.parametrize("corpus, rows", [("sample", 180), pytest.param("nsmc", 50_000, marks=pytest.mark.slow)])
def test_konlpy_and_gluonnlp_make_the_same_ids_and_batches_as_the_compiled_path(corpus, rows, request):
    from gluonnlp.data import ClipSequence, PadSequence, batchify

    if corpus == "nsmc":
        request.getfixturevalue("nsmc_folder")
    mecab = pip_mecab()
    train, test = (map(clean, load_reviews(corpus, part).documents) for part in ("train", "test"))
    vocab = build_vocab(map(mecab.morphs, train), SETTINGS)
    encoder, clip = ReviewEncoder.from_json(vocab.to_json(), SETTINGS), ClipSequence(SETTINGS.max_length)
    texts = list(test)
    ids = [clip(vocab[mecab.morphs(text)]) for text in texts]
    encoded = encoder.encode_many(texts)
    assert len(ids) == rows and [list(review.ids) for review in encoded] == ids
    # a few blank ones have no ids, and are in no batch
    some = [place for place, own in enumerate(ids) if own][:64]
    padded, lengths = batchify.Pad(pad_val=vocab[vocab.padding_token], ret_length=True)([ids[place] for place in some])
    token_ids, valid_length = encoder.batch([encoded[place] for place in some])
    assert padded.asnumpy().tolist() == token_ids.tolist() and lengths.asnumpy().tolist() == valid_length.tolist()
    longest = PadSequence(token_ids.shape[1], pad_val=vocab[vocab.padding_token])
    assert [longest(ids[place]) for place in some] == token_ids.tolist()


@pytest.fixture(scope="module")
def documents():
    return nsmc.load("sample", "train").documents


@pytest.mark.parametrize("settings", [{}, {"rare_words": "pieces"}, {"symbols": 1}, {"max_length": 8}])
def test_training_numbers_words_by_gluonnlp_as_prediction_does(documents, settings):
    config = TextConfig(vocab_size=500, ngram_buckets=0, **settings)
    texts = [*documents, "★☆☆☆☆ 별로 👍", "재미" * 200]
    token_lists = tokenize_many(texts, "mecab", symbols=config.symbols)
    encoder = ReviewEncoder.from_json(build_vocab(token_lists, config).to_json(), config)
    numbered, predicted = list(map(numbering(encoder), token_lists)), encoder.encode_many(texts)
    assert [(each.tokens, each.ids) for each in numbered] == [(each.tokens, each.ids) for each in predicted]
    assert max(map(len, numbered)) <= config.max_length


@pytest.mark.parametrize("size, rare_words", [(300, "pieces"), (900, "pieces"), (300, "unknown")])
def test_a_vocabulary_is_the_same_whatever_the_order_and_pieces_leave_nothing_unknown(documents, size, rare_words):
    config = TextConfig(vocab_size=size, min_count=1, rare_words=rare_words)
    token_lists = tokenize_many(documents, "mecab")
    vocab = build_vocab(token_lists, config)
    assert len(vocab) <= size and vocab.to_json() == build_vocab(token_lists[::-1], config).to_json()
    encoder, unknown = ReviewEncoder.from_json(vocab.to_json(), config), 0
    for tokens in token_lists:
        units = encoder.units(tokens)
        assert "".join(units) == "".join(tokens)
        unknown += list(encoder.encode_words(units).ids).count(encoder.unknown)
    assert unknown == 0 or size == 300


COUNTED = {"나": 3, "가": 3, "다": 2, "라": 1, "마": 4}
# three places: 바 and 사 want two of them, but without 다라 and 다 there are four characters, so no word is left
WORDS = {"가나": 5, "다라": 4, "다": 3, "바사": 2, "아": 1}


@pytest.mark.parametrize(
    "counts, settings, entries",
    [
        (COUNTED, {}, "마 가 나 다"),
        (COUNTED, {"min_count": 1}, "마 가 나 다 라"),
        (COUNTED, {"vocab_size": 4}, "마 가"),
        (COUNTED, {"vocab_size": 3}, "마"),
        # characters are kept for pieces alone
        ({"가나": 3, "다라": 2}, {"vocab_size": 3}, "가나"),
        # all words fit, and what is rarer than asked is no character either
        (WORDS, {"rare_words": "pieces", "vocab_size": 20}, "가나 다라 다 바사"),
        (WORDS, {"rare_words": "pieces", "vocab_size": 20, "min_count": 1}, "가나 다라 다 바사 아"),
        (WORDS, {"rare_words": "pieces", "vocab_size": 6}, "가나 다라 다 바사"),
        (WORDS, {"rare_words": "pieces", "vocab_size": 5}, "다 가 나"),
        (WORDS, {"rare_words": "pieces", "vocab_size": 4}, "다 가"),
    ],
)
def test_ids_go_by_falling_count_and_code_point_and_words_give_way_to_characters(counts, settings, entries):
    vocab = build_vocab([[word] * count for word, count in counts.items()], TextConfig(**settings))
    assert vocab.idx_to_token == ["<unk>", "<pad>", *entries.split()]
