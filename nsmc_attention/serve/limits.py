"""How much of the server one client may take."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Sizes in bytes, times in seconds.

    Attributes
    ----------
    reviews, characters : int
        Of one request, and of one of its reviews.
    weighted : int
        Reviews of one request that asks for weights, of which each is a T x T matrix.
    body, table : int
        Bytes of a JSON body, and of a table.
    head : int
        Bytes of a request's line and headers.
    head_seconds, body_seconds : float
        Within which the headers have arrived, and the body: for it one second more for each `rate` bytes, as
        Apache's mod_reqtimeout counts.
    rate : float
        Bytes a second.
    answer_seconds : float
        Within which a client that reads slowly makes room for the next 64 KiB of its answer.
    connections, tables, explanations : int
        At once, for each worker; who comes then is told to come again. Tables count when they have arrived.
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

    def body_of(self, path: str) -> int:
        """Answer the most bytes of a body sent to this path."""
        return self.table if path == "/predict/batch" else self.body
