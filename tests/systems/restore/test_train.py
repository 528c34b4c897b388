"""What `restore` learns from: noise that a seed decides, objectives, and a training that can be continued."""

import numpy
import pytest

from nsmc_attention.corpora import nsmc
from nsmc_attention.machine.mxnet_shim import import_mxnet
from nsmc_attention.systems.restore.settings import RESTORE_PRESETS
from nsmc_attention.systems.restore.train import OBJECTIVES, NoisyBatches, dev_pairs, read_pairs, train_network
from nsmc_attention.systems.sequences.characters import Characters
from nsmc_attention.text.encoding import clean
from nsmc_attention.training.runs import Run

mxnet = import_mxnet()

SENTENCES = [text for text in map(clean, nsmc.load("sample", "train").documents) if 10 <= len(text) <= 40][:60]
CHARACTERS = Characters.of(SENTENCES, 1)
SMALL = {"embedding_size": 6, "model.encoder.hidden_size": 4, "model.output_units": 5, "batch_size": 16, "epochs": 2}
DECODER = {"model.decoder.units": 8, "model.decoder.heads": 2, "model.decoder.feed_forward": 10}


def settings(kind, **changes):
    return RESTORE_PRESETS[kind].with_fields(**{**SMALL, **(DECODER if kind == "writer" else {}), **changes})


def test_an_epoch_has_every_sentence_and_is_decided_by_its_seed():
    batches = NoisyBatches(SENTENCES, 16, 140, 0.5)
    one, again, other = (list(batches.epoch(*seed)) for seed in ((0, 1), (0, 1), (0, 2)))
    assert one == again and one != other and len(one) == len(batches)
    targets = [target for pairs in one for target in pairs.targets]
    assert set(SENTENCES) <= set(targets) and len(targets) == len(SENTENCES) + batches.extra
    assert max(map(len, targets)) <= 140


def test_pairs_are_read_as_typed_or_with_few_misspellings(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("typed\tmeant\n" + "".join(f"{text}ㅋㅋ 넘잼\t{text}ㅋㅋ 넘 잼\n" for text in SENTENCES), "utf-8")
    pairs = read_pairs(path)
    batches = NoisyBatches(SENTENCES[:10], 16, 140, 0.0, 1.0, pairs)
    drawn = [pair for batch in batches.epoch(0, 1) for pair in zip(batch.sources, batch.targets)]
    assert len(drawn) == 10 + len(SENTENCES) and {target for _, target in drawn} == {*SENTENCES[:10], *pairs.targets}
    as_typed = sum(pair in zip(pairs.sources, pairs.targets) for pair in drawn)
    assert 0.3 < as_typed / len(SENTENCES) < 0.7


def test_the_dev_part_has_the_same_noise_each_time():
    one, other = dev_pairs(SENTENCES, 0), dev_pairs(SENTENCES, 0)
    assert one == other and sorted(one.targets) == sorted(SENTENCES) and one.sources != one.targets


@pytest.mark.parametrize("kind", ["editor", "writer"])
def test_a_training_lowers_its_loss(kind, tmp_path):
    config = settings(kind, **{"training.label_smoothing": 0.1, "learning_rate": 0.02})
    run, network = Run(tmp_path, device="cpu", quiet=True), config.network(*CHARACTERS.sizes)
    progress, figures = train_network(network, config, CHARACTERS, run, SENTENCES[10:], SENTENCES[:10])
    losses = [record["train_loss"] for record in progress.history]
    assert losses[-1] < losses[0] and set(figures) == {"character_error", "exact"}


def test_label_smoothing_takes_from_the_right_one():
    logits = mxnet.nd.array([[[9.0, 0.0, 0.0]]])
    right, inside = numpy.zeros((1, 1)), numpy.ones((1, 1))
    given = dev_pairs(SENTENCES, 0), mxnet.cpu(), CHARACTERS, 4
    plain, smooth = (OBJECTIVES["editor"](*given, share).cross_entropy(logits, right, inside) for share in (0.0, 0.3))
    logs = numpy.log(numpy.exp([9.0, 0, 0]) / numpy.exp([9.0, 0, 0]).sum())
    assert plain.asscalar() == pytest.approx(-logs[0], abs=1e-4)
    assert smooth.asscalar() == pytest.approx(-0.7 * logs[0] - 0.3 * logs.mean(), abs=1e-4)


def test_what_is_in_the_padding_does_not_count():
    objective = OBJECTIVES["editor"](dev_pairs(SENTENCES, 0), mxnet.cpu(), CHARACTERS, 4)
    logits = mxnet.nd.random.normal(shape=(2, 3, 5))
    wanted, inside = numpy.ones((2, 3)), numpy.array([[1, 1, 0], [1, 0, 0]])
    other = numpy.where(inside, wanted, 4)
    assert objective.cross_entropy(logits, wanted, inside) == objective.cross_entropy(logits, other, inside)
