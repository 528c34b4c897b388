"""Limits on what one client may use of the server."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Sizes in bytes, times in seconds.

    Attributes
    ----------
    reviews, characters : int
        Reviews of a request, and characters of a review.
    weighted : int
        Reviews of a request for weights, a T x T matrix each.
    body, table, head : int
        Largest JSON body, largest table, and largest request line and headers together.
    head_seconds, body_seconds, rate : float
        Time for the headers and for the body; for the body one second more for each `rate` bytes received, as in
        Apache's mod_reqtimeout.
    answer_seconds : float
        Time in which a slow client must make room for the next 64 KiB of its response.
    connections, tables, explanations : int
        Concurrent ones of a worker; more get status 503. Tables count once they have been received.
    """

    reviews: int = 512
    characters: int = 10_000
    weighted: int = 16
    body: int = 2_000_000
    table: int = 512_000_000
    head: int = 65_536
    head_seconds: float = 10
    body_seconds: float = 20
    rate: float = 2_000
    answer_seconds: float = 60
    connections: int = 4_000
    tables: int = 8
    explanations: int = 8
