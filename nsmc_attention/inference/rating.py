"""The rater of groups of reviews, and its rating, as protocols for the core and the apps."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import Any, Optional, Protocol


class Scale(Protocol):
    """The ends of the stars."""

    lowest: float
    highest: float


class GroupRating(Protocol):
    """The stars of a group; `representative` reviews have an `attribution` and a `weight`, their share of it."""

    @property
    def stars(self) -> Optional[float]: ...

    @property
    def representative(self) -> Sequence[Any]: ...


class GroupRater(Protocol):
    """Pools the reviews of groups, then rates them; a pool does not grow with its reviews."""

    @property
    def scale(self) -> Scale: ...

    def pool(self, pairs: Iterable[tuple[Hashable, str]], shown: int = 0) -> dict[Hashable, Any]:
        """Return the pool of each group of (group, review), with `shown` representative reviews."""

    def bounds(self, pools: Iterable[Any]) -> Iterator[tuple[Any, tuple[Optional[float], ...]]]:
        """Yield each pool with its stars: the low end, the middle and the high end."""

    def ratings(self, pools: Collection[Any]) -> Iterator[GroupRating]:
        """Yield the rating of each pool."""
