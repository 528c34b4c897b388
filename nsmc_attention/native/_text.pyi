from typing import Callable, Optional, Sequence

from numpy import float64, int32, uint32
from numpy.typing import NDArray
from typing_extensions import Buffer

class Vocabulary:
    def __new__(
        cls, token_to_idx: dict[str, int], unknown: int, max_length: int, cut_rare: bool, /
    ) -> "Vocabulary": ...

class Junctions:
    def __new__(cls, hashes: Buffer, weights: Buffer, junction: float, inside: float, /) -> "Junctions": ...

class Decoder:
    def __new__(
        cls,
        sys_dic: Buffer,
        unk_dic: Buffer,
        char_bin: Buffer,
        matrix_bin: Buffer,
        penalties: tuple[int, ...],
        longest_run: int,
        /,
    ) -> "Decoder": ...
    def tokens(self, text: str, /) -> list[str]: ...
    def morphemes(self, text: str, /) -> list[tuple[str, str]]: ...
    def cost(self, text: str, /) -> int: ...
    def encode(self, texts: list[str], vocabulary: Vocabulary, /) -> list[tuple[tuple[str, ...], tuple[int, ...]]]: ...
    def window(
        self,
        texts: list[str],
        vocabulary: Vocabulary,
        clean: Callable[[str], str],
        symbols: Optional[Callable[[str, int], list[tuple[int, int, str]]]],
        classes: bytes,
        longest: int,
        longest_number: int,
        buckets: int,
        /,
    ) -> tuple[list[str], bytearray, bytearray, bytearray, bytearray]: ...
    def keys(self, texts: list[str], zeros: NDArray[uint32], /) -> None: ...
    def log_odds(self, texts: list[str], junctions: Junctions, numbers: NDArray[float64], /) -> None: ...

def write_ngrams(token_lists: list[Sequence[str]], buckets: int, zeros: NDArray[int32], /) -> None: ...
