"""Small networks that chapters 3 and 4 train in seconds: writers, with the sentences that they learn from, and a language model."""

import tempfile
import warnings
from pathlib import Path

from nsmc_attention._runtime.mxnet_shim import choose_device
from nsmc_attention.systems.language.settings import LANGUAGE_PRESETS
from nsmc_attention.systems.language.train import train_language
from nsmc_attention.systems.restoration.objective import Pairs, WriterObjective, train_network
from nsmc_attention.systems.restoration.settings import RESTORE_PRESETS
from nsmc_attention.systems.sequences.characters import Characters
from nsmc_attention.tables.data import Texts
from nsmc_attention.training.runs import Run

SMALL = {
    "embedding_size": 32,
    "hidden_size": 32,
    "model.output_units": 32,
    "dropout": 0.0,
    "training.joined": 0.0,
    "average": 0.9,
    "learning_rate": 0.01,
    "epochs": 6,
    "patience": 6,
    "batch_size": 50,
}
RECURRENT = {"model.decoder.hidden_size": 64}
TRANSFORMER = {
    "model.decoder.kind": "transformer",
    "model.decoder.layers": 1,
    "model.decoder.units": 32,
    "model.decoder.heads": 2,
    "model.decoder.feed_forward": 64,
    "model.decoder.dropout": 0.0,
    "model.decoder.positions": "sinusoidal",
}
# for made_up sentences, which are fewer than numbers
SENTENCES = {"batch_size": 16, "epochs": 8, "patience": 8}

# without attention MXNet warns of inputs that are not used
warnings.filterwarnings("ignore", "The .*-th input to HybridBlock")


def trained(train, dev, **settings):
    """Return a writer's network, trained on the CPU, and the objective that writes with it."""
    config = RESTORE_PRESETS["writer"].with_fields(**{**SMALL, **settings})
    characters, device = Characters.of(train, 1), choose_device("cpu")
    with tempfile.TemporaryDirectory() as folder:
        network, *_ = train_network(config, characters, Run(Path(folder) / "run", device="cpu", quiet=True), train, dev)
    return network, WriterObjective(Pairs([], []), device, characters, batch_size=100)


def made_up(random, count):
    """Return sentences of words that are two syllables and a particle: nothing but the source tells the next character."""

    def word():
        syllables = "배우연기영화음악감독장면정말"
        return "".join(random.choice(list(letters)) for letters in (syllables, syllables, "는이도"))

    return [" ".join(word() for _ in range(random.randint(1, 6))) for _ in range(count)]


def small_language_model(folder):
    """Train a language model on the sample's 540 reviews; return its bundle. Its curves are in the folder."""
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
    return train_language(Texts("sample"), config, Run(folder, quiet=True))
