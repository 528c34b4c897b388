"""The file of a multipart/form-data body, as `curl -F file=@reviews.csv` sends it, piece by piece as it arrives."""

from pathlib import PurePosixPath
from typing import AsyncIterator, Mapping

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header

from ..errors import DataError
from ..reviews.tables import FORMATS

FORM = "multipart/form-data"
# Bytes of the name and value of a part's header
HEADER = 8192


class FormFile:
    """The bytes of a form's only file; `kind` is known after them. DataError if it is no such form.

    `kinds` are those of tables by content type; the file's suffix comes first, because curl knows no type for csv.
    """

    def __init__(self, content_type: str, stream: AsyncIterator[bytes], kinds: Mapping[str, str]) -> None:
        boundary = parse_options_header(content_type)[1].get(b"boundary", b"")
        if not 0 < len(boundary) <= 70:
            raise DataError(f"Content-Type: expected {FORM} with a boundary of at most 70 characters")
        self.stream, self.kinds, self.kind = stream, kinds, ""
        self.name, self.value, self.headers = b"", b"", dict[bytes, bytes]()
        self.pieces: list[bytes] = []
        self.whole = False
        callbacks = ("header_field", "header_value", "header_end", "headers_finished", "part_data", "end")
        self.parser = MultipartParser(boundary, {f"on_{each}": getattr(self, each) for each in callbacks})  # type: ignore[arg-type]

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self.stream:
                self.parser.write(piece)
                yield b"".join(self.pieces)
                self.pieces.clear()
        except MultipartParseError as problem:
            raise DataError(f"form: expected {FORM}, found something else ({problem})") from problem
        if not self.kind or not self.whole:
            raise DataError("form: expected one file to its end, found less; with curl: -F file=@reviews.csv")

    def header_field(self, data: bytes, start: int, end: int) -> None:
        self.name += data[start:end]
        self.check_header()

    def header_value(self, data: bytes, start: int, end: int) -> None:
        self.value += data[start:end]
        self.check_header()

    def check_header(self) -> None:
        # the releases of the parser for Python 3.9 have no limit
        if len(self.name) + len(self.value) > HEADER:
            raise DataError(f"form: expected headers of at most {HEADER} bytes, found more")

    def header_end(self) -> None:
        if self.name.lower() in (b"content-disposition", b"content-type"):
            self.headers[self.name.lower()] = self.value
        self.name = self.value = b""

    def headers_finished(self) -> None:
        _, options = parse_options_header(self.headers.get(b"content-disposition", b""))
        if b"filename" not in options or self.kind:
            name = options.get(b"name", b"").decode("utf-8", "replace")[:60]
            raise DataError(f"form: expected one file alone, found {name!r} too; options belong in the address")
        self.kind = self.find_kind(options[b"filename"].decode("utf-8", "replace"))
        self.headers.clear()

    def find_kind(self, filename: str) -> str:
        """Return the kind of table by the file's suffix or content type; DataError if it is of none."""
        by_type, _ = parse_options_header(self.headers.get(b"content-type", b""))
        kind = FORMATS.get(PurePosixPath(filename).suffix.lower(), "")
        kind = kind if kind in self.kinds.values() else self.kinds.get(by_type.decode("latin-1"), "")
        if not kind:
            names = ", ".join(suffix for suffix, each in FORMATS.items() if each in self.kinds.values())
            raise DataError(f"form: expected a file whose name ends in {names}, found {filename[-60:]!r}")
        return kind

    def part_data(self, data: bytes, start: int, end: int) -> None:
        self.pieces.append(data[start:end])

    def end(self) -> None:
        self.whole = True
