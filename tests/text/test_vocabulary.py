import pytest

from nsmc_attention import load_reviews
from nsmc_attention.text.encoding import ReviewEncoder, clean
from nsmc_attention.text.settings import TextConfig
from nsmc_attention.text.tokenizers import pip_mecab
from nsmc_attention.text.vocabulary import build_vocab

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
