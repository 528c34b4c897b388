from typing import Sequence

from numpy import int32
from numpy.typing import NDArray
from typing_extensions import Buffer

class Vocabulary:
    def __new__(
        cls, token_to_idx: dict[str, int], unknown: int, max_length: int, cut_rare: bool, /
    ) -> "Vocabulary": ...

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
    def encode(self, texts: list[str], vocabulary: Vocabulary, /) -> list[tuple[tuple[str, ...], tuple[int, ...]]]: ...

def write_ngrams(token_lists: list[Sequence[str]], buckets: int, zeros: NDArray[int32], /) -> None: ...
