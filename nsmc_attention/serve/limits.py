"""Limits on what one client may use of the server."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Sizes in bytes, times in seconds; connections, tables and explanations are those of a worker at once."""

    reviews: int = 512
    characters: int = 10_000
    # reviews of a request for weights, a T x T matrix each
    weighted: int = 16
    # characters of the texts of a request to /restore together; of a text to restore with weights
    restored: int = 20_000
    aligned: int = 140
    # films of a table, of each of which some reviews are kept
    films: int = 10_000
    body: int = 2_000_000
    table: int = 512_000_000
    # the request line and the headers together
    head: int = 65_536
    # until a request has arrived; one more for each `rate` bytes received, as in Apache's mod_reqtimeout
    request_seconds: float = 20
    rate: float = 2_000
    # in which a slow client must make room for the next 64 KiB of its response
    answer_seconds: float = 60
    connections: int = 4_000
    # once they have been received
    tables: int = 8
    explanations: int = 8
