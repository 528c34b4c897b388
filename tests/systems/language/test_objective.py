"""What a language model learns from: words that a seed hides, what is shown in their place, a training."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.machine.mxnet_shim import import_mxnet
from nsmc_attention.systems.language.model import MASK, Masker, Tokens
from nsmc_attention.systems.language.objective import (
    HIDDEN_STEP,
    MaskedBatches,
    MaskedObjective,
    new_network,
    train_network,
)
from nsmc_attention.systems.language.settings import LANGUAGE_PRESETS
from nsmc_attention.text.encoding import ReviewEncoder
from nsmc_attention.training.runs import Run

mxnet = import_mxnet()

VOCABULARY = 40
LENGTHS = numpy.random.RandomState(0).randint(2, 9, 90)
# after each token comes the next one
TOKENS = Tokens(numpy.concatenate([3 + numpy.arange(length) * 4 % 37 for length in LENGTHS]).astype("int32"), LENGTHS)
MASKER = Masker(0.15, 2, 1, VOCABULARY)
SMALL = {"embedding_size": 8, "batch_size": 16, "epochs": 2, "learning_rate": 0.02, "max_length": 9}
SIZES = {
    "transformer": {"model.encoder.units": 8, "model.encoder.heads": 2, "model.encoder.feed_forward": 16},
    "gru": {"hidden_size": 4},
}


def config(kind):
    return LANGUAGE_PRESETS[kind].with_fields(**SMALL, **SIZES[kind])


def test_an_epoch_has_every_review_and_hides_other_words_than_the_last():
    batches = MaskedBatches(TOKENS, MASKER, 16)
    one, again, other = (list(batches.epoch(0, epoch)) for epoch in (1, 1, 2))
    assert len(one) == len(batches) and sum(len(each.valid_length) for each in one) == len(LENGTHS)
    assert all((a.token_ids == b.token_ids).all() for a, b in zip(one, again))
    assert any(a.token_ids.shape != b.token_ids.shape or (a.token_ids != b.token_ids).any() for a, b in zip(one, other))


def test_places_are_those_of_the_hidden_tokens():
    batches, order = MaskedBatches(TOKENS, MASKER, 16), numpy.argsort(LENGTHS, kind="stable")
    for number, batch in enumerate(batches.in_order(0)):
        members = order[16 * number : 16 * (number + 1)]
        assert len(batch.places) % HIDDEN_STEP == 0 and batch.weights.sum() >= len(members)
        columns, rows = numpy.divmod(batch.places, len(members))
        inside = batch.weights == 1
        whole = TOKENS.padded(TOKENS.ids, members, 1)
        assert (whole[rows[inside], columns[inside]] == batch.targets[inside]).all()
        changed = batch.token_ids != whole
        changed[rows[inside], columns[inside]] = False
        assert not changed.any()


@pytest.mark.parametrize("kind", ["transformer", pytest.param("gru", marks=pytest.mark.slow)])
def test_a_training_lowers_its_loss(kind, tmp_path):
    _, progress, figures = train_network(config(kind), MASKER, Run(tmp_path, device="cpu", quiet=True), TOKENS, TOKENS)
    assert figures["loss"] < progress.before["dev_loss"] and 0 <= figures["accuracy"] <= figures["among_five"] <= 1


def test_the_loss_is_that_of_the_hidden_tokens_alone():
    objective = MaskedObjective(MaskedBatches(TOKENS, MASKER, 90), mxnet.cpu(), 0)
    (batch,) = objective.dev_batches.in_order(0)
    network = new_network(config("transformer"), objective)
    logits = objective.logits(network, batch).asnumpy()
    logs = logits - numpy.log(numpy.exp(logits).sum(axis=1, keepdims=True))
    expected = -logs[numpy.arange(len(logs)), batch.targets][batch.weights == 1].mean()
    assert objective.loss(network, batch).asscalar() == pytest.approx(expected, rel=1e-5)
    assert objective.evaluate(network)["loss"] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("kind", ["transformer", "gru"])
def test_embeddings_begin_with_rows_of_about_unit_length(kind):
    network = LANGUAGE_PRESETS[kind].with_fields(embedding_size=64).network(200)
    network.initialize(mxnet.init.Xavier())
    lengths = numpy.linalg.norm(network.embedding.data().asnumpy(), axis=1)
    assert lengths.mean() == pytest.approx(1, abs=0.05)


ENTRIES = ["<unk>", "<pad>", MASK, *"가나다라마바사"]
ENCODER = ReviewEncoder("whitespace", {entry: number for number, entry in enumerate(ENTRIES)}, 0, 1, 12, cut_rare=True)
LETTERS_MASKER = Masker.of(0.3, ENCODER)
words = st.lists(st.text(st.sampled_from("가나다라"), min_size=1, max_size=4), min_size=1, max_size=8)


@given(st.lists(words, min_size=1, max_size=6), st.integers(0, 99))
def test_of_each_review_some_tokens_are_hidden_and_the_others_stay(reviews, seed):
    tokens = Tokens.of(reviews, ENCODER)
    members = numpy.arange(len(reviews))[::-1]
    ids, hidden, targets = LETTERS_MASKER(tokens, members, numpy.random.RandomState(seed))
    expected = tokens.padded(tokens.ids, members, 1)
    assert (ids[~hidden] == expected[~hidden]).all() and (targets == expected[hidden]).all()
    assert hidden.any(axis=1).all() and not hidden[expected == 1].any() and (ids[hidden] >= 2).all()


def test_a_share_is_hidden_of_which_most_are_the_mask_and_the_others_words():
    tokens = Tokens.of([list("가나다라마바사가나다")] * 2000, ENCODER)
    ids, hidden, targets = LETTERS_MASKER(tokens, numpy.arange(2000), numpy.random.RandomState(0))
    assert hidden.mean() == pytest.approx(0.3, abs=0.02)
    shown = ids[hidden]
    assert set(shown.tolist()) == {ENTRIES.index(entry) for entry in (MASK, *"가나다라마바사")}
    assert (shown == 2).mean() == pytest.approx(0.8, abs=0.02)
    # of the others half are another token, one in seven of these by chance the same
    assert (shown == targets).mean() == pytest.approx(0.1 + 0.1 / 7, abs=0.02)
