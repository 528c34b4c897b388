"""Values, which attention averages: the settings of each kind, which build its block. Read without MXNet.

Of values near the token, a review's log-odds are a sum over its tokens (docs/explaining.md).
"""

from collections.abc import Mapping
from typing import ClassVar, Optional

from ..errors import ConfigError
from ..machine.aliases import Network
from ..schema import Settings, setting


class Values(Settings):
    """Settings of a token's value; the last layer reads the weighted mean of the values."""

    # whether a token's value tells of the token itself and its neighbours, not of the whole review
    near: ClassVar[bool] = True

    @property
    def signed(self) -> int:
        """1 if each value is multiplied by a gate from -1 to 1, which the encoder's state gives, else 0."""
        return 0

    def width(self, embedding_size: int, state: int) -> int:
        """Return the units of a value, of an embedding's and a state's."""
        raise NotImplementedError

    def check(self, where: str) -> None:
        """Raise ConfigError where the settings do not fit each other."""

    def block(self, embedding_size: int) -> Optional[Network]:
        """Build the HybridBlock: embeddings (N, T, E), 0 on padding -> values (N, T, V); None for the states."""
        raise NotImplementedError


class States(Values):
    """The encoder's state, which tells of the whole review."""

    kind = "states"
    near = False

    def width(self, embedding_size: int, state: int) -> int:
        return state

    def block(self, embedding_size: int) -> None:
        return None


class Convolution(Values):
    """tanh(W [e_(t-r) ... e_(t+r)] + b): the embeddings of `window` tokens, of which the token is the middle one."""

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
