"""Settings of encoders, which turn embeddings into states, and of values, which attention averages; each kind builds its
block. Read without MXNet.

With values near the token, a review's log-odds are a sum over its tokens (docs/explaining.md).
"""

from collections.abc import Mapping
from typing import ClassVar, Optional

from ..errors import ConfigError
from ..machine.aliases import Network
from ..schema import Settings, setting
from .graphs import Axes


class EncoderSettings(Settings):
    """An encoder, which turns embeddings into states."""

    # descriptions of a network with this encoder, without and with attention
    described: ClassVar[tuple[str, str]]

    @property
    def numbers_per_pair(self) -> int:
        """Numbers held for each pair of tokens: one a layer and head of an encoder with attention, else 0."""
        return 0

    @property
    def outputs(self) -> dict[str, Axes]:
        """Further outputs of an ONNX graph with this encoder, {name: axes}."""
        return {}

    def width(self, embedding_size: int) -> int:
        """Return the units of a state (D)."""
        raise NotImplementedError

    def check(self, where: str) -> None:
        """Raise ConfigError unless the sizes fit each other."""

    def block(self, embedding_size: int, max_length: int) -> Network:
        """Build the HybridBlock: embedded (T, N, E), valid_length (N,) -> states (T, N, D); None for no encoder.

        An encoder with attention also returns its weights (N, L, K, T, T).
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
    """No encoder: a token's state is its embedding."""

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
        """Numbers held for each pair of positions: one weight a layer and head."""
        return self.layers * self.heads

    @property
    def summary(self) -> str:
        """Description of the layers for model cards."""
        return f"{self.layers} Transformer layer{'s' * (self.layers > 1)} of {self.units}"

    def check(self, where: str) -> None:
        """Raise ConfigError unless the sizes fit each other."""
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

# Encoders whose states depend on the other tokens
CONTEXTUAL_ENCODERS = {kind: encoder for kind, encoder in ENCODERS.items() if encoder is not NoEncoder}


class Values(Settings):
    """Settings of a token's value; the last layer reads the weighted mean of the values."""

    # whether a value depends only on the token and its neighbours, not on the whole review
    near: ClassVar[bool] = True

    @property
    def signed(self) -> int:
        """1 if each value is multiplied by a gate from -1 to 1, computed from the encoder's state, else 0."""
        return 0

    def width(self, embedding_size: int, state: int) -> int:
        """Return the units of a value, given the units of an embedding and of a state."""
        raise NotImplementedError

    def check(self, where: str) -> None:
        """Raise ConfigError unless the settings fit each other."""

    def block(self, embedding_size: int) -> Optional[Network]:
        """Build the HybridBlock: embeddings (N, T, E), 0 on padding -> values (N, T, V); None for the states."""
        raise NotImplementedError


class States(Values):
    """The encoder's state, which depends on the whole review."""

    kind = "states"
    near = False

    def width(self, embedding_size: int, state: int) -> int:
        return state

    def block(self, embedding_size: int) -> None:
        return None


class Convolution(Values):
    """tanh(W [e_(t-r) ... e_(t+r)] + b) on the embeddings of `window` tokens around the token."""

    kind = "convolution"
    introduced: ClassVar[Mapping[str, object]] = {"signed": 0}
    window: int = setting(3, "tokens that a value reads, an odd number; 1: the token alone", low=1, high=15)
    units: int = setting(64, "units of a value", low=1, high=4096)
    signed: int = setting(
        0, "1: multiply each value by a gate from -1 to 1, computed from the token's state", low=0, high=1
    )

    def width(self, embedding_size: int, state: int) -> int:
        return self.units

    def check(self, where: str) -> None:
        if self.window % 2 == 0:
            raise ConfigError(f"{where}.window: expected an odd number, the token in the middle, found {self.window}")

    def block(self, embedding_size: int) -> Network:
        from .blocks import WindowValues

        return WindowValues(embedding_size, self.units, self.window // 2)


VALUES: dict[str, type[Values]] = {kind.kind: kind for kind in (States, Convolution)}
