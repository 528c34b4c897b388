"""The file of a multipart/form-data body, as `curl -F file=@reviews.csv` sends it, piece by piece as it arrives."""

from typing import AsyncIterator

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header

from ..errors import DataError
from .tables import upload_kind

FORM = "multipart/form-data"
# Bytes of the name and value of a part's header
HEADER = 8192


class FormFile:
    """The bytes of a form's only file; `kind` is known after them. DataError if it is no such form."""

    def __init__(self, content_type: str, stream: AsyncIterator[bytes]) -> None:
        boundary = parse_options_header(content_type)[1].get(b"boundary", b"")
        if not 0 < len(boundary) <= 70:
            raise DataError(f"Content-Type: expected {FORM} with a boundary of at most 70 characters")
        self.stream, self.kind = stream, ""
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
        self.kind = upload_kind(
            self.headers.get(b"content-type", b"").decode("latin-1"), options[b"filename"].decode("utf-8", "replace")
        )
        self.headers.clear()

    def part_data(self, data: bytes, start: int, end: int) -> None:
        self.pieces.append(data[start:end])

    def end(self) -> None:
        self.whole = True
