"""The characters of a restorer, and the junctions that an editor's spaces are judged by besides."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional, TypeVar

from ...errors import BundleError
from ..sequences.characters import Characters
from .junctions import Junctions

Self = TypeVar("Self", bound="RestorerCharacters")


@dataclass(frozen=True)
class RestorerCharacters(Characters):
    """Characters with `junctions`, None where nothing but the network decides the spaces."""

    junctions: Optional[Junctions] = None

    @classmethod
    def from_dict(cls: type[Self], values: Mapping[str, Any], where: object) -> Self:
        known = Characters.from_dict(values, where).known
        junctions = Junctions.from_dict(values["junctions"]) if "junctions" in values else None
        if "junctions" in values and junctions is None:
            raise BundleError(f"{where}: expected junctions, found other values; fit new ones: recipes/junctions.py")
        return cls(known, junctions)

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), **({"junctions": self.junctions.to_dict()} if self.junctions else {})}
