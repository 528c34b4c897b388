"""`film`: the reviews of a film in, its expected mean stars with an interval and its most important reviews out.

(film, text) -> encoder of a classifier -> scores and values -> a Pool for each film -> Rating
"""

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Optional, Union, overload

import numpy
from numpy.typing import NDArray

from ...bundle import load_bundle
from ...classifier.engines import GraphEngine, NativeEngine, native_engine, runs_natively
from ...classifier.predictor import WINDOW, Classifier, TokenScorer
from ...classifier.settings import LAYOUT as CLASSIFIER
from ...classifier.settings import ClassifierBundle
from ...corpora.data import File, open_file
from ...engines.graphs import DeviceName, EngineName, chosen_engine, load_graphs
from ...errors import BundleError, DataError
from ...machine.aliases import Numbers, Record
from ...machine.processes import cores
from ...machine.progress import progress_bar
from ...measure.metrics import log_odds
from ...network.graphs import CONTEXTS
from ...scoring.files import MARK, ROWS_WRITTEN, has_mark, open_output, refuse_loss, style_of
from ...scoring.reference import Predictor, check_text, check_texts, is_frame, text_column_of
from ...tables.columns import require_column
from ...tables.parts import as_text, cut
from ...tables.table import Table
from ...tables.writers import WRITERS, ScoredRows
from ...text.encoding import Encoded
from .pooling import Pool
from .rating import Rating, Representative
from .settings import LAYOUT, FilmBundle

Vectors = NDArray[numpy.float32]
Pair = tuple[Hashable, str]
Pools = dict[Hashable, Pool]
# Low end, middle and high end of the stars
Bounds = tuple[Optional[float], Optional[float], Optional[float]]
# Representative reviews of a film by default
SHOWN = 3
# Output columns after the film's name, and their types
TYPES = {"reviews": "int64", "stars": "double", "stars_low": "double", "stars_high": "double"}
# Most reviews of a film on an HTML page, and most films on it
REVIEWS_ON_PAGE, FILMS_ON_PAGE = 30, 100


class ReviewReader:
    """The frozen encoder of a classifier, run by the native engine or ONNX Runtime.

    The vector of a review (F,) is the input of the classifier's last layer followed by the log-odds of positive.
    """

    def __init__(self, bundle: ClassifierBundle, threads: Optional[int] = None):
        self.bundle, self.engine = bundle, reading_engine(bundle, threads)
        self.batches = TokenScorer(bundle.codec, self.engine, bundle.config).batches
        _, batch = next(self.batches([bundle.codec.encode("가")]))
        self.width = self.engine.read(*batch)[2].shape[1] + 1

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors (M, F) float32 of M texts, none of them blank."""
        return self.read(self.bundle.codec.encode_many(texts))

    def read(self, reviews: Sequence[Encoded]) -> Vectors:
        """Return the vectors (M, F) float32 of M encoded reviews; a blank review's is 0."""
        limit = range(self.bundle.codec.max_length)
        reviews = [review if len(review) <= len(limit) else review.take(limit) for review in reviews]
        vectors = numpy.zeros((len(reviews), self.width), dtype="float32")
        for members, batch in self.batches(reviews):
            probability, _, contexts = self.engine.read(*batch)
            vectors[members] = numpy.column_stack([contexts, log_odds(probability.astype("float64"))])
        return vectors


def reading_engine(bundle: ClassifierBundle, threads: Optional[int] = None) -> Union[NativeEngine, GraphEngine]:
    """Load a classifier's engine that returns `contexts`: native if compiled and able to run the bundle, else onnx.

    BundleError if neither returns them.
    """
    if runs_natively(bundle):
        return native_engine(bundle, threads)
    if CONTEXTS not in bundle.config.graphs["model.onnx"].outputs:
        raise BundleError(
            f"{bundle.folder}: film: expected a classifier with values near the token (--values convolution); to read one of "
            "another kind, install a C++ compiler (Debian: apt install g++) and nsmc_attention again"
        )
    return GraphEngine(load_graphs(bundle, "onnx", "cpu", threads or cores())["model.onnx"])


class FilmEngine:
    """The graphs of a film network, run on one thread by ONNX Runtime or MXNet; "auto" is onnx, on a GPU gluon."""

    def __init__(self, bundle: FilmBundle, name: str, device: str):
        self.name = chosen_engine(name, device)
        self.graphs = load_graphs(bundle, self.name, device)

    def reviews(self, vectors: Numbers) -> tuple[Numbers, Numbers]:
        """(M, F) -> scores (M,), values (M, D)."""
        scores, values = self.graphs["reviews.onnx"](vectors)
        return scores, values

    def film(self, pooled: Numbers, counts: Numbers) -> Numbers:
        """(N, P), (N, 1) -> quantiles (N, 3)."""
        return self.graphs["film.onnx"](pooled, counts)[0]


class FilmRater(Predictor):
    """A predictor of film ratings: a bundle, its engine, and the classifier whose encoder reads the reviews."""

    layout = LAYOUT

    def __init__(self, bundle: FilmBundle, engine: Any, classifier: ClassifierBundle, threads: Optional[int] = None):
        super().__init__(bundle, engine)
        self.scale, self.classifier, self.reader = bundle.codec, classifier, ReviewReader(classifier, threads)

    @classmethod
    def from_bundle(
        cls,
        bundle: FilmBundle,
        engine: str = "auto",
        device: str = "auto",
        threads: Optional[int] = None,
        **options: Any,
    ) -> "FilmRater":
        classifier = load_bundle(options.get("classifier"), CLASSIFIER)
        scale = bundle.codec
        if classifier.fingerprint != scale.classifier:
            raise BundleError(
                f"{bundle.folder}: expected the classifier {scale.name} ({scale.classifier[:12]}…), whose encoder reads "
                f"the reviews, found {classifier.name} ({classifier.fingerprint[:12]}…); name it by "
                "--classifier (of film; of other commands by --bundle)"
            )
        return cls(bundle, FilmEngine(bundle, engine, device), classifier, threads)

    @property
    def options(self) -> Record:
        return {} if self.classifier.packaged else {"classifier": str(self.classifier.folder.resolve())}

    def __call__(self, texts: Iterable[str], shown: int = SHOWN) -> Rating:
        """Return the Rating of one film's reviews, with at most `shown` representative ones."""
        reviews = check_texts(texts, "reviews", "put it in a list")
        pools = self.pool((("", text) for text in reviews), shown) or {"": Pool(shown)}
        return next(self.ratings(pools.values()))

    def rate(self, pairs: Iterable[Pair], shown: int = SHOWN) -> Iterator[tuple[Hashable, Rating]]:
        """Yield each film of (film, review) pairs with its Rating, in order of appearance.

        All pairs are read before the first Rating; memory grows with the films, not with their reviews.
        """
        pools = self.pool(pairs, shown)
        return zip(pools, self.ratings(pools.values()))

    def pool(self, pairs: Iterable[Pair], shown: int = 0) -> Pools:
        """Return the Pool of each film, in order of appearance, reading the pairs window by window."""
        pools: Pools = {}
        for window in cut(pairs, WINDOW, lambda pair: 1):
            reviews = self.classifier.codec.encode_many([check_text(text) for _, text in window])
            texts = [review.text for review in reviews]
            self.add(pools, [film for film, _ in window], texts, self.reader.read(reviews), shown)
        return pools

    def add(self, pools: Pools, films: Sequence[Hashable], texts: Sequence[str], vectors: Vectors, shown: int) -> None:
        """Add clean texts with their vectors to the Pools of their films; blank texts are only counted."""
        scores, values = self.engine.reviews(vectors)
        members: dict[Hashable, list[int]] = {}
        for row, (film, text) in enumerate(zip(films, texts)):
            if film not in pools:
                pools[film] = Pool(shown)
            if text:
                members.setdefault(film, []).append(row)
            else:
                pools[film].blank += 1
        for film, rows in members.items():
            pools[film].add(scores[rows], values[rows], [texts[row] for row in rows])

    def ratings(self, pools: Collection[Pool]) -> Iterator[Rating]:
        """Yield the Rating of each Pool."""
        texts = (text for pool in pools for text, _ in pool.weights)
        predictions = Classifier(self.classifier, self.reader.engine).predict_stream(texts)
        for pool, (low, stars, high) in self.bounds(pools):
            reviews = zip(pool.weights, predictions)
            representative = (Representative(prediction.averaged(), weight) for (_, weight), prediction in reviews)
            yield Rating(pool.count, pool.blank, stars, low, high, tuple(representative))

    def bounds(self, pools: Iterable[Pool]) -> Iterator[tuple[Pool, Bounds]]:
        """Yield each Pool with its stars (low, middle, high), each None if it has no review."""
        for window in cut(pools, WINDOW, lambda pool: 1):
            stars = iter(self.stars([pool for pool in window if pool.count]).tolist())
            for pool in window:
                yield pool, tuple(next(stars)) if pool.count else (None, None, None)

    def stars(self, pools: Sequence[Pool]) -> NDArray[numpy.float64]:
        """Return the stars (low, middle, high) of Pools with reviews, (N, 3)."""
        if not pools:
            return numpy.zeros((0, 3))
        # margins were never measured beyond the most reviews of training
        counts = numpy.array([min(pool.count, self.bundle.config.training.given) for pool in pools])
        pooled = numpy.stack([pool.pooled for pool in pools]).astype("float32")
        return self.scale.intervals(self.engine.film(pooled, counts[:, None].astype("float32")), counts)


def load_film(
    bundle: Optional[Union[str, Path]] = None,
    engine: EngineName = "auto",
    device: DeviceName = "auto",
    classifier: Optional[Union[str, Path]] = None,
) -> FilmRater:
    """Load a film network from a bundle folder; None is the packaged one.

    `classifier` is the folder of the classifier whose encoder reads the reviews, None the packaged one; BundleError if
    the network was trained with another one. `engine` and `device`, and the other errors, are as in `load_classifier`.
    """
    return FilmRater.load(bundle, engine, device, classifier=classifier)


def rater_of(classifier: ClassifierBundle, bundle: Optional[Union[str, Path]] = None) -> Optional[FilmRater]:
    """Load the film network of a bundle, by default the packaged one, for a loaded classifier.

    None if no bundle is named and the packaged network needs another classifier or ONNX Runtime is not installed.
    Errors are as in `load_film`.
    """
    verified = load_bundle(bundle, LAYOUT)
    fits = verified.codec.classifier == classifier.fingerprint and find_spec("onnxruntime") is not None
    return FilmRater.from_bundle(verified, classifier=classifier.folder) if bundle or fits else None


packaged_film = lru_cache(maxsize=1)(load_film)


@overload
def film(texts: Iterable[str], shown: int = SHOWN) -> Rating: ...


@overload
def film(texts: object, shown: str, *, text_column: Optional[str] = None) -> dict[Hashable, Rating]: ...


def film(
    texts: Any, shown: Union[int, str] = SHOWN, *, text_column: Optional[str] = None
) -> Union[Rating, dict[Hashable, Rating]]:
    """Return the Rating of one film's reviews by the packaged network, which is loaded once.

    film(frame, "title") takes a DataFrame and its column of film names, and returns the Rating of each film in order of
    appearance: {"괴물": Rating(...)}. The column of reviews is `text_column` or detected by its name; rows without a film
    are left out, and those without a text count as blank. DataError if there is no such column.
    """
    if isinstance(shown, int):
        return packaged_film()(texts, shown)
    return dict(packaged_film().rate(pairs_of(texts, shown, text_column)))


def pairs_of(frame: Any, group_by: str, text_column: Optional[str] = None) -> Iterator[Pair]:
    """Return (film, review) for each row of a DataFrame that names a film."""
    if not is_frame(frame):
        raise DataError(f"film: expected a DataFrame with the column {group_by!r}, found {type(frame).__name__}")
    require_column(list(frame.columns), group_by, "DataFrame", "; name the one of the films")
    texts = frame[text_column_of(frame, text_column)]
    return ((film, as_text(text)) for film, text in zip(frame[group_by], texts) if as_text(film).strip())


@dataclass
class FilmCounts:
    """Numbers of films, rows without a film and reviews without a word, and the first ratings, for an HTML page."""

    films: int = 0
    nameless: int = 0
    blank: int = 0
    ratings: dict[str, Rating] = field(default_factory=dict)

    def __str__(self) -> str:
        nameless = "row names no film and is left out", "rows name no film and are left out"
        blank = "blank review is left out", "blank reviews are left out"
        counts = [(self.films, ("film", "films")), (self.nameless, nameless), (self.blank, blank)]
        return "; ".join(f"{count:,} {forms[count != 1]}" for count, forms in counts if count or forms[0] == "film")

    def keep(self, ratings: Iterable[tuple[str, Rating]]) -> Iterator[tuple[str, Rating]]:
        """Yield the ratings, and keep the first FILMS_ON_PAGE of them."""
        for film, rating in ratings:
            if len(self.ratings) < FILMS_ON_PAGE:
                self.ratings[film] = rating
            yield film, rating


def rate_table(
    rater: FilmRater,
    source: File,
    group_by: str,
    output: Union[str, Path] = "-",
    style: Optional[str] = None,
    draw: bool = False,
) -> FilmCounts:
    """Write a row for each film of a table, in order of appearance.

    Parameters
    ----------
    group_by : str
        Name of the column of films; rows with an empty cell in it are left out and counted.
    style : text, csv, tsv, jsonl, parquet, xlsx or None
        Output format; None: that of the output's suffix, else text. jsonl includes the reviews with the largest weights.
    draw : bool
        Whether to return the Ratings of the first FILMS_ON_PAGE films, each with up to REVIEWS_ON_PAGE reviews.

    Raises
    ------
    DataError
        As `tables.table.open_table`; there is no such column, or no row that names a film.
    ConfigError
        The style is unknown.
    """
    counts, style = FilmCounts(), style_of(output, style)
    with open_output(output, style) as file:
        table = open_file(source)
        refuse_loss(table.source, output)
        if has_mark(style, table.source, output):
            file.write(MARK)
        bar = progress_bar(film_texts(table, group_by, counts), unit=" reviews", delay=2)
        pools = rater.pool(bar, REVIEWS_ON_PAGE if draw else SHOWN if style == "jsonl" else 0)
        counts.films, counts.blank = len(pools), sum(pool.blank for pool in pools.values())
        ratings = zip(map(str, pools), rater.ratings(pools.values()))
        write_ratings(file, style, group_by, counts.keep(ratings) if draw else ratings)
    return counts


def film_texts(table: Table, group_by: str, counts: FilmCounts) -> Iterator[tuple[str, str]]:
    """Yield (film, text) for each row that names a film, and count the other rows; DataError if no row does."""
    path, empty = table.source.path, True
    for part in table.parts:
        require_column(part, group_by, path, "; name the one of the films by group_by (--group-by)")
        for cell, text in zip(part[group_by], part[table.text_column]):
            if name := as_text(cell).strip():
                empty = False
                yield name, as_text(text)
            else:
                counts.nameless += 1
    if empty:
        raise DataError(f"{path}: expected rows that name a film in column {group_by!r}, found none")


def write_ratings(file: IO[Any], style: str, group_by: str, ratings: Iterable[tuple[str, Rating]]) -> None:
    """Write a row for each film: the group column and TYPES, with two decimals except in parquet.

    A film without stars has empty cells. jsonl adds `representative`; text has stars, interval, reviews and name.
    """
    if style == "text":
        for film, rating in ratings:
            reviews, stars, low, high = (cell or "-" for cell in cells_of(rating, style))
            print(f"{stars}\t{low}-{high}\t{reviews}\t{film}", file=file)
        return
    types = {**TYPES, "representative": "", "error": ""} if style == "jsonl" else TYPES
    with WRITERS[style](file, [group_by], types, False) as write:
        for chunk in cut(ratings, ROWS_WRITTEN, lambda pair: 1):
            films = [film for film, _ in chunk]
            rows = [rating.to_dict(SHOWN) if style == "jsonl" else cells_of(rating, style) for _, rating in chunk]
            write(ScoredRows({group_by: films}, films, rows, {group_by: "string"}))


def cells_of(rating: Rating, style: str) -> list[object]:
    """Return the values of TYPES: floats in parquet, floats with two decimals in workbooks, else text with two."""
    cells: list[object] = [rating.reviews]
    for stars in (rating.stars, rating.stars_low, rating.stars_high):
        if stars is None or style == "parquet":
            cells.append(stars)
        else:
            cells.append(round(stars, 2) if style == "xlsx" else f"{stars:.2f}")
    return cells
