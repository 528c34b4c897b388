"""Small networks that chapters 3 and 4 train in seconds: writers, with the sentences that they learn from, and a language model."""

import tempfile
import warnings
from pathlib import Path

from nsmc_attention.corpora.data import Texts
from nsmc_attention.machine.gluon import mxnet
from nsmc_attention.machine.mxnet_shim import choose_device
from nsmc_attention.systems.language.settings import LANGUAGE_PRESETS
from nsmc_attention.systems.language.train import train_language
from nsmc_attention.systems.restore.objective import Pairs, WriterObjective, train_network
from nsmc_attention.systems.restore.settings import RESTORE_PRESETS
from nsmc_attention.systems.sequences.characters import Characters
from nsmc_attention.training.runs import Run

SMALL = {
    "embedding_size": 32,
    "hidden_size": 32,
    "model.encoder.layers": 1,
    "model.decoder.layers": 1,
    "model.decoder.units": 32,
    "model.decoder.heads": 2,
    "model.decoder.feed_forward": 64,
    "model.decoder.dropout": 0.0,
    "model.decoder.positions": "sinusoidal",
    "model.output_units": 32,
    "dropout": 0.0,
    "training.joined": 0.0,
    "average": 0.9,
    "learning_rate": 0.01,
    "epochs": 6,
    "patience": 6,
    "batch_size": 50,
}
# for made_up sentences, which are fewer than numbers
SENTENCES = {"batch_size": 16, "epochs": 8, "patience": 8}

# MXNet warns of inputs that are not used, as the source's without attention
warnings.filterwarnings("ignore", "The .*-th input to HybridBlock")


def trained(train, dev, build=None, **settings):
    """Return a writer's network, trained on the CPU, and the objective that writes with it.

    It is the package's, or what `build` makes of the numbers of rows that are read and of characters that are written,
    and the settings.
    """
    config = RESTORE_PRESETS["writer"].with_fields(**{**SMALL, **settings})
    characters, device = Characters.of(train, 1), choose_device("cpu")
    sizes = characters.sizes
    network = build(*sizes, config.model) if build else config.network(*sizes)
    with tempfile.TemporaryDirectory() as folder:
        train_network(network, config, characters, Run(Path(folder) / "run", device="cpu", quiet=True), train, dev)
    return network, WriterObjective(Pairs([], []), device, characters, batch_size=100)


def attention(writer, source_ids, source_length, previous_ids):
    """Return the weights of all layers and heads of a Transformer's decoder, whose rows sum to 1, given what was written before.

    "decoder", how each place attends to what was written (N, L, K, T, T), 0 above the diagonal; "cross", to the source
    (N, L, K, T, S).
    """
    nd, positions = mxnet.nd, writer.step.positions.data(previous_ids.context)
    (memory, keys, mask), state = writer.begin(source_ids, source_length)
    _, weights, _ = writer.step.decode(nd, previous_ids, memory, keys, mask, state, positions)
    own, of_source = (nd.stack(*layers, axis=1) for layers in zip(*weights))
    # the first place is none
    return {"decoder": own[..., 1:], "cross": of_source}


def made_up(random, count):
    """Return sentences of words that are two syllables and a particle: nothing but the source tells the next character."""

    def word():
        syllables = "배우연기영화음악감독장면정말"
        return "".join(random.choice(list(letters)) for letters in (syllables, syllables, "는이도"))

    return [" ".join(word() for _ in range(random.randint(1, 6))) for _ in range(count)]


def small_language_model(folder):
    """Train a language model on 540 reviews of the sample; return its bundle. Its curves are in the folder."""
    config = LANGUAGE_PRESETS["transformer"].with_settings(
        {
            "model.embedding_size": 32,
            "model.encoder.units": 32,
            "model.encoder.heads": 2,
            "model.encoder.feed_forward": 64,
            "training.epochs": 12,
            "training.patience": 12,
            "training.learning_rate": 0.01,
            "training.batch_size": 32,
            "training.average": 0.9,
            "training.dev_fraction": 0.1,
        }
    )
    return train_language(
        Texts(Path(__file__).parents[1] / "tests/data/sample/ratings_train.txt"), config, Run(folder, quiet=True)
    )
