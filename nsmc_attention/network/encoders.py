"""Encoders, which turn embeddings into states: the settings of each kind, which build its block. Read without MXNet."""

from typing import ClassVar

from ..errors import ConfigError
from ..machine.aliases import Network
from ..schema import Settings, setting
from .graphs import Axes


class EncoderSettings(Settings):
    """An encoder, which turns embeddings into states."""

    # what a network with this encoder is, without attention above it and with
    described: ClassVar[tuple[str, str]]

    @property
    def numbers_per_pair(self) -> int:
        """Numbers held for each pair of tokens: of each layer and head of one whose states attend to each other."""
        return 0

    @property
    def outputs(self) -> dict[str, Axes]:
        """Further outputs of an ONNX graph with this encoder, {name: axes}."""
        return {}

    def width(self, embedding_size: int) -> int:
        """Return the units of a state (D)."""
        raise NotImplementedError

    def check(self, where: str) -> None:
        """Raise ConfigError where the sizes do not fit each other."""

    def block(self, embedding_size: int, max_length: int) -> Network:
        """Build the HybridBlock: embedded (T, N, E), valid_length (N,) -> states (T, N, D); None for none at all.

        One that attends returns its weights (N, L, K, T, T) beside the states.
        """
        raise NotImplementedError


class GRU(EncoderSettings):
    """A bidirectional GRU."""

    kind = "gru"
    described = ("The average of a bidirectional GRU's states", "A self-attentive bidirectional GRU")
    hidden_size: int = setting(128, "units of the GRU in each direction (H)", low=1, high=4096)

    def width(self, embedding_size: int) -> int:
        return 2 * self.hidden_size

    def block(self, embedding_size: int, max_length: int) -> Network:
        from .blocks import Bidirectional

        return Bidirectional(self.hidden_size)


class NoEncoder(EncoderSettings):
    """Each token by itself: its state is its embedding."""

    kind = "none"
    described = ("The average of the words' embeddings", "Self-attention on the words' embeddings")

    def width(self, embedding_size: int) -> int:
        return embedding_size

    def block(self, embedding_size: int, max_length: int) -> None:
        return None


class TransformerSettings(Settings):
    """The sizes of a Transformer's encoder or decoder."""

    kind = "transformer"
    layers: int = setting(2, "number of layers (L)", low=1, high=24)
    heads: int = setting(4, "heads; divides the units of a state (K)", low=1)
    units: int = setting(128, "units of a state (D)", low=1, high=4096)
    feed_forward: int = setting(512, "units of the hidden layer at each position", low=1, high=16384)
    dropout: float = setting(0.1, "dropout of the weights and of each sum", low=0.0, high=0.95)
    norm: str = setting("post", "layer norm: after each sum (post) or before each layer (pre)", choices=("post", "pre"))

    @property
    def numbers_per_pair(self) -> int:
        """Numbers held for each pair of places: a weight of each head of each layer."""
        return self.layers * self.heads

    @property
    def summary(self) -> str:
        """Its layers, for model cards."""
        return f"{self.layers} Transformer layer{'s' * (self.layers > 1)} of {self.units}"

    def check(self, where: str) -> None:
        """Raise ConfigError where the sizes do not fit each other."""
        if self.units % self.heads:
            expected = f"expected a divisor of {self.units}, the units of a state, found {self.heads}"
            raise ConfigError(f"{where}.heads: {expected}")


class TransformerEncoder(TransformerSettings, EncoderSettings):
    """Self-attention without recurrence, Vaswani et al. 2017 (arXiv:1706.03762)."""

    described = ("The average of a Transformer's states", "A Transformer under self-attention")
    positions: str = setting(
        "relative", "positions of the tokens; relative: by distance", choices=("relative", "learned")
    )

    @property
    def outputs(self) -> dict[str, Axes]:
        return {"heads": ("N", self.layers, self.heads, "T", "T")}

    def width(self, embedding_size: int) -> int:
        return self.units

    def block(self, embedding_size: int, max_length: int) -> Network:
        from .transformer import Transformer

        return Transformer(self, embedding_size, max_length)


ENCODERS: dict[str, type[EncoderSettings]] = {kind.kind: kind for kind in (GRU, TransformerEncoder, NoEncoder)}

# Those by which a token knows of others
READERS = {kind: each for kind, each in ENCODERS.items() if each is not NoEncoder}
