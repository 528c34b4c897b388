"""Films whose reviews are in many parts of many files, read by several workers: what `bulk` keeps, and makes of it.

    a part's rows -> PoolingScorer: predictions, and a Pool for each film -> a file -> merged in order -> a row a film

A film's Pool has the same size for any number of reviews, see `pooling`.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any, Optional

import numpy
from numpy.typing import NDArray
from safetensors.numpy import load, save

from ..classification.prediction import TYPES, Prediction, Row, output_row
from ..classification.predictor import WINDOW
from ..inference.columns import output_prefix
from ..reviews.parquet import require_parquet
from ..text.encoding import Encoded
from .pooling import Pool
from .rater import SHOWN, FilmRater, Pools
from .tables import COLUMNS, WRITERS

NO_WEIGHTS: NDArray[numpy.float32] = numpy.zeros((0, 0), dtype="float32")


@dataclass
class PoolingScorer:
    """Scores reviews as their classifier does and pools them, each with the next of `films`, all in one reading.

    `pools` are those of the reviews so far; a review of the film None is in none. `shown` is that of `Pool`.
    """

    rater: FilmRater
    films: Iterator[Optional[str]]
    shown: int
    pools: Pools = field(default_factory=dict)
    types = TYPES

    @property
    def reference(self) -> Any:
        return self.rater.reference

    def rows(self, texts: Iterable[str]) -> list[Row]:
        """Return (label, score, probability, error) of each review."""
        return [row for _, row in self.read(texts)]

    def objects(self, texts: Iterable[str], weights: bool = False) -> Iterator[dict[str, Any]]:
        """Yield `Prediction.to_dict()` of each review, without weights."""
        for each, row in self.read(texts):
            yield Prediction(each.text, *row[:3], each.tokens, each.offsets, NO_WEIGHTS, row[3]).to_dict()

    def read(self, texts: Iterable[str]) -> Iterator[tuple[Encoded, Row]]:
        iterator = iter(texts)
        while window := self.rater.classifier.codec.encode_many(list(islice(iterator, WINDOW))):
            films = list(islice(self.films, len(window)))
            yield from zip(window, map(output_row, self.rater.add(self.pools, films, window, self.shown).tolist()))


def shown_in(style: str) -> int:
    """Return how many reviews of a film a table of this style has."""
    return SHOWN if style == "jsonl" else 0


def save_pools(pools: Pools, units: int, path: Path) -> None:
    """Write Pools, whose values have so many units, as a safetensors file of plain numbers and JSON."""
    own, none = list(pools.values()), numpy.zeros(units)
    texts = json.dumps({"films": list(pools), "best": [pool.best for pool in own]})
    values = numpy.array([(pool.weighted, pool.summed) if pool.count else (none, none) for pool in own])
    arrays = {
        "texts": numpy.frombuffer(texts.encode(), dtype="uint8"),
        "counts": numpy.array([(pool.count, pool.blank) for pool in own], dtype="int64").reshape(-1, 2),
        "sums": numpy.array([(pool.highest, pool.total) for pool in own]).reshape(-1, 2),
        "values": values.reshape(-1, 2, units),
    }
    path.write_bytes(save(arrays))


def load_pools(path: Path, shown: int) -> Pools:
    """Return the Pools of a file that `save_pools` wrote."""
    pools: Pools = {}
    arrays = load(path.read_bytes())
    texts = json.loads(arrays["texts"].tobytes())
    numbers = zip(arrays["counts"].tolist(), arrays["sums"].tolist(), arrays["values"])
    for film, best, (counts, sums, values) in zip(texts["films"], texts["best"], numbers):
        pools[film] = pool = Pool(shown)
        pool.count, pool.blank = counts
        pool.highest, pool.total = sums
        pool.weighted, pool.summed = values.copy()
        pool.best = [(score, text) for score, text in best]
    return pools


def merged(paths: Iterable[Path], shown: int) -> Pools:
    """Return the Pools of all files, the films in their first order."""
    pools: Pools = {}
    for path in paths:
        for film, pool in load_pools(path, shown).items():
            pools.setdefault(film, Pool(shown)).merge(pool)
    return pools


def write_films(rater: FilmRater, pools: Pools, group_by: str, style: str, file: IO[Any], verbatim: bool) -> None:
    """Write a row for each film, as `film_tables` does; of parquet, `file` is binary."""
    ratings = zip(map(str, pools), rater.ratings(pools.values()))
    if style != "parquet":
        write = WRITERS[style](file, group_by, verbatim)
        for film, rating in ratings:
            write(film, rating)
        return
    parquet = require_parquet()
    import pyarrow

    rows = [(film, rating.reviews, rating.stars, rating.stars_low, rating.stars_high) for film, rating in ratings]
    prefix = output_prefix([group_by], COLUMNS)
    types = [pyarrow.string(), pyarrow.int64(), *[pyarrow.float64()] * 3]
    names = [group_by, *(prefix + name for name in COLUMNS)]
    arrays = [pyarrow.array(values, kind) for values, kind in zip(zip(*rows) if rows else [[]] * 5, types)]
    parquet.write_table(pyarrow.table(arrays, names), file)
