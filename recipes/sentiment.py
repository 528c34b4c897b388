"""New heads of a classifier for stars and sentiment.

    python -m recipes.sentiment BUNDLE COPY [--comments val.tsv] [--held-out OTHER.csv] [--seed 0] [--keep-stars] [--judge]

The head of stars is trained on the raw star reviews without those of the official test file; --keep-stars keeps the
bundle's head instead. The head of sentiment is trained on `neither/` and `reviews/`; a twentieth of their frames is held out.
The texts are document, side (none: no opinion, negative, neutral, positive), kind, domain, frame (the pattern of the
sentence) and pair. Texts about other subjects, with raw reviews, also teach it to recognize film reviews. --comments adds
the comments of KOTE with an even id: clear opinions on other subjects, and comments without a clear side, which only teach
what is not about films. --judge also holds out films (5 % for evaluation, 3 % for choosing factors) and prints figures
instead of writing a bundle; they are valid for a classifier that was not trained on these films.
"""

import argparse
import hashlib
import warnings
from pathlib import Path
from typing import Optional

import numpy
import pandas
from numpy.typing import NDArray
from safetensors.numpy import save
from scipy import sparse
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, mean_absolute_error

from benchmarks.classification.adapting import comments
from nsmc_attention import Classifier
from nsmc_attention.bundle import model_card, read_contents, write_bundle
from nsmc_attention.classifier.settings import LAYOUT
from nsmc_attention.corpora import nsmc, raw
from nsmc_attention.machine.aliases import Arrays
from nsmc_attention.machine.progress import progress_bar
from nsmc_attention.measure.share import normalized
from nsmc_attention.sentiment.heads import FILE, Grams, Heads, beside, ten_stars
from nsmc_attention.text.encoding import Encoded

from .sentences import is_held_out, texts, written

SIDES = ("negative", "neutral", "positive")
# Targets of the first head: 1 to 10 stars, or those of a side; and the stars that each allows
TARGETS = {"negative": 11, "neutral": 12, "positive": 13}
OF_SIDES = numpy.repeat(numpy.eye(3, dtype="float32"), (4, 3, 3), axis=1)
ALLOWED = numpy.vstack([numpy.ones(10), numpy.eye(10), OF_SIDES]).astype("float32")
# Rows of the table of n-grams, whose columns are of stars, neutral, no opinion and films
BUCKETS = 3 * 2**15
# Units of the hidden layer, columns of the table for the stars; passes, reviews of a batch, largest step, dropout, decay of
# layers and of the table
HIDDEN, RANK = 64, 2
EPOCHS, BATCH, RATE, DROPOUT, DECAY = 16, 512, 2e-3, 0.1, (1e-4, 4.0)
# Steps by which the biases of the stars are set to their shares
CALIBRATIONS = 5
# Inverse strength of the penalty of the second head, and the factor of its n-grams
STRENGTH, GRAMS = 2.0, 3.0
# Raw reviews of each side that teach the second head; what they weigh, and what a text of `reviews/`, beside one of `neither/`
RAW, WEIGHTS = 12000, (0.025, 0.05)
# What a text of `neither/` weighs, most of them take a side; and a comment
OWN = {"none": 3.0, "neutral": 2.0, "negative": 1.0, "positive": 1.0}
COMMENT = 0.3
# Parts of the texts by frame: the stars that the second head reads of one come from heads that were taught the others
FOLDS = 2
# Domains of films, raw reviews that teach what one is, and what a comment weighs there
FILMS, FILM_REVIEWS, FILM_COMMENT = ("film", "series", "drama", "movie"), 200000, 20.0
# Factors of the odds of neutral, no opinion and a film, chosen by the held-out texts and films and comments with an odd id
FACTORS = (0.65, 0.45, 0.11)
WINDOW = 4096
Floats = NDArray[numpy.float32]
# Contexts and log-odds (N, F), and n-grams (N, BUCKETS)
Features = tuple[Floats, sparse.csr_matrix]


def sided(kote: Optional[Path]) -> pandas.DataFrame:
    """Return document, side, weight, fold and not_film (the weight as no review of a film) of the texts that are trained on."""
    own, reviews = texts(), written(["contrast"])
    by_label = reviews["label"].astype(float).map({0.0: "negative", 0.5: "neutral", 1.0: "positive"})
    reviews = reviews.assign(side=by_label, weight=WEIGHTS[1], domain="film")[~is_held_out(reviews) & by_label.notna()]
    own = own.assign(weight=own["side"].map(OWN))[~is_held_out(own)]
    parts = [own, reviews, *([*map(known_comments, [kote] * 2, (True, False))] if kote else [])]
    frame = pandas.concat(parts, ignore_index=True).drop_duplicates("document")
    fold = (frame["kind"] + frame["frame"]).map(lambda name: int(hashlib.sha256(name.encode()).hexdigest(), 16) % FOLDS)
    not_film = numpy.where(frame["domain"].isin(FILMS), 0, numpy.where(frame["kind"] == "comment", FILM_COMMENT, 1))
    return frame[["document", "side", "weight"]].assign(fold=fold, not_film=not_film)


def known_comments(kote: Path, clear: bool) -> pandas.DataFrame:
    """Return the comments with an even id that are clear opinions, or the others, whose weight of 0 teaches no side."""
    frame = comments(kote, clear).rename(columns={"review": "document"})
    side = frame["label"].map(SIDES[::2].__getitem__) if clear else ""
    frame = frame.assign(side=side, weight=COMMENT * clear, kind="comment", frame=frame["id"].astype(str))
    return frame[frame["id"] % 2 == 0]


def side_of(stars: "pandas.Series[int]") -> "pandas.Series[str]":
    """Return the sides of stars: up to 4 negative, from 8 on positive."""
    return pandas.cut(stars, [0, 4, 7, 10], labels=SIDES).astype(str)


def features(classifier: Classifier, documents: "pandas.Series[str]") -> Features:
    """Return the contexts and log-odds of texts (N, F), 0 for one without tokens, and their n-grams."""
    dense, matrices = list[NDArray[numpy.float32]](), list[sparse.csr_matrix]()
    for start in range(0, len(documents), WINDOW):
        reviews = classifier.encoder.encode_many(list(documents.iloc[start : start + WINDOW]))
        matrices.append(matrix(reviews))
        own = numpy.zeros((len(reviews), 0), "float32")
        for members, _, _, read in classifier.score.outputs(reviews, with_features=True):
            own = own if own.size else numpy.zeros((len(reviews), read.shape[1]), "float32")
            own[members] = read
        dense.append(own)
    return numpy.concatenate(dense), sparse.vstack(matrices).tocsr()


def matrix(reviews: list[Encoded]) -> sparse.csr_matrix:
    """Return the matrix by which `Grams.read` multiplies a table, (N, BUCKETS)."""
    grams = Grams.of([review.text for review in reviews], BUCKETS)
    values = numpy.repeat(1 / numpy.sqrt(grams.counts), grams.counts).astype("float32")
    ends = numpy.append(0, numpy.cumsum(grams.counts))
    return sparse.csr_matrix((values, grams.rows[grams.rows > 0].astype("int32"), ends), (len(reviews), BUCKETS))


def train(
    of_raw: Features,
    raw_stars: "pandas.Series[int]",
    of_texts: Features,
    own: pandas.DataFrame,
    seed: int,
    kept: Optional[Heads] = None,
) -> Arrays:
    """Return the arrays of `Heads`, the first of them those `kept`."""
    arrays, own_stars = first_head(of_raw, raw_stars, of_texts, own, seed)
    if kept:
        arrays = {name: kept.arrays[name] for name in arrays} | {"table": kept.table[:, :RANK]}
    random, sides = numpy.random.RandomState(seed), side_of(raw_stars).to_numpy()
    some = numpy.concatenate([random.permutation(numpy.flatnonzero(sides == side))[:RAW] for side in SIDES])
    many, read = random.permutation(len(sides))[:FILM_REVIEWS], second_inputs(arrays, *of_texts, own_stars)

    def fitted(members: NDArray[numpy.int64], kinds: list[int], weights: list[float]) -> LogisticRegression:
        dense, grams = of_raw[0][members], of_raw[1][members]
        rows = sparse.vstack([read, second_inputs(arrays, dense, grams, said(arrays, dense, grams))]).tocsr()
        return LogisticRegression(C=STRENGTH, max_iter=300).fit(rows, kinds, sample_weight=weights)

    kinds = numpy.concatenate([own["side"], sides[some]])
    kinds = numpy.select([kinds == "none", kinds == "neutral"], [2, 1], 0)
    model = fitted(some, [*kinds], [*own["weight"], *numpy.full(len(some), WEIGHTS[0])])
    # as many films as other texts, by their weights
    weights = [*own["not_film"], *numpy.full(len(many), own["not_film"].sum() / len(many))]
    films = fitted(many, [*numpy.repeat([0, 1], [len(own), len(many)])], weights)
    # neutral and no opinion beside those of a side
    coefficients = numpy.column_stack([(model.coef_[1:] - model.coef_[0]).T, films.coef_[0]])
    bias = numpy.append(model.intercept_[1:] - model.intercept_[0], films.intercept_)
    units = len(coefficients) - BUCKETS
    table = numpy.column_stack([arrays["table"], GRAMS * coefficients[units:]])
    scale = numpy.quantile(abs(table), 0.9999, axis=0) / 127
    if kept:
        scale[:RANK] = kept.arrays["scale"][:RANK]
    arrays.update(other=coefficients[:units], other_bias=bias + numpy.log(FACTORS), scale=scale)
    arrays.update(table=numpy.clip(numpy.rint(table / scale), -127, 127))
    return {
        name: numpy.ascontiguousarray(array, "int8" if name == "table" else "float32") for name, array in arrays.items()
    }


def first_head(
    of_raw: Features, raw_stars: "pandas.Series[int]", of_texts: Features, own: pandas.DataFrame, seed: int
) -> tuple[Arrays, Floats]:
    """Return the arrays of the first head, and what heads of the other fold say of each text, (N, 10).

    The second head must not learn from stars that the first one remembers (stacked generalization, Wolpert 1992).
    """
    has_side = own["side"].isin(TARGETS).to_numpy()

    def taught(chosen: NDArray[numpy.bool_]) -> Arrays:
        targets = numpy.concatenate([raw_stars, own["side"].map(TARGETS)[chosen]]).astype(int)
        both = [numpy.concatenate([of_raw[0], of_texts[0][chosen]]), sparse.vstack([of_raw[1], of_texts[1][chosen]])]
        return fit_stars(both[0], both[1].tocsr(), targets, seed)

    stars = numpy.zeros((len(own), 10), "float32")
    for fold in range(FOLDS):
        others = (own["fold"] == fold).to_numpy()
        stars[others] = said(taught(has_side & ~others), of_texts[0][others], of_texts[1][others])
    return taught(has_side), stars


def said(arrays: Arrays, dense: Floats, grams: sparse.csr_matrix) -> Floats:
    """Return the probabilities of ten stars, (N, 10)."""
    return ten_stars(arrays, dense, grams @ arrays["table"])


def second_inputs(arrays: Arrays, dense: Floats, grams: sparse.csr_matrix, stars: Floats) -> sparse.csr_matrix:
    """Return the inputs of the second head, (N, F + 10 + BUCKETS)."""
    return sparse.hstack([sparse.csr_matrix(beside(arrays, dense, stars)), GRAMS * grams]).tocsr()


def fit_stars(dense: Floats, grams: sparse.csr_matrix, targets: NDArray[numpy.int64], seed: int) -> Arrays:
    """Train the first head by Adam; the loss is - log of the probability of the stars that a target allows."""
    random, count, units = numpy.random.RandomState(seed), len(dense), dense.shape[1] + RANK
    draw = random.standard_normal
    arrays = {"table": 0.05 * draw((BUCKETS, RANK)), "hidden": draw((units, HIDDEN)) / units**0.5}
    arrays.update(
        output=0.5 * draw((HIDDEN, 10)) / HIDDEN**0.5, hidden_bias=numpy.zeros(HIDDEN), output_bias=numpy.zeros(10)
    )
    arrays = {name: array.astype("float32") for name, array in arrays.items()}
    moments = {name: (numpy.zeros_like(array), numpy.zeros_like(array)) for name, array in arrays.items()}
    arrays.update(mean=dense.mean(axis=0), spread=dense.std(axis=0) + 1e-3)
    batches = [
        numpy.sort(part) for _ in range(EPOCHS) for part in numpy.array_split(random.permutation(count), count // BATCH)
    ]
    for step, members in enumerate(progress_bar(batches, desc="stars")):
        own, read, allowed = grams[members], dense[members], ALLOWED[targets[members]]
        kept = (random.random_sample((len(members), units)) > DROPOUT).astype("float32") / (1 - DROPOUT)
        inputs = kept * numpy.hstack([(read - arrays["mean"]) / arrays["spread"], own @ arrays["table"]])
        hidden = numpy.maximum(inputs @ arrays["hidden"] + arrays["hidden_bias"], 0)
        stars = normalized(hidden @ arrays["output"] + arrays["output_bias"])
        by_logit = (stars - stars * allowed / (stars * allowed).sum(axis=1, keepdims=True)) / len(members)
        by_hidden = (by_logit @ arrays["output"].T) * (hidden > 0)
        gradients = {"output": hidden.T @ by_logit, "output_bias": by_logit.sum(axis=0)}
        gradients.update(hidden=inputs.T @ by_hidden, hidden_bias=by_hidden.sum(axis=0))
        gradients["table"] = own.T @ ((by_hidden @ arrays["hidden"][-RANK:].T) * kept[:, -RANK:])
        rate = RATE * min(20 * (step + 1) / len(batches), 0.5 + 0.5 * numpy.cos(numpy.pi * step / len(batches)))
        for name, (first, second) in moments.items():
            first += 0.1 * (gradients[name] - first)
            second += 0.01 * (gradients[name] ** 2 - second)
            arrays[name] *= 1 - rate * DECAY[name == "table"] * (arrays[name].ndim > 1)
            arrays[name] -= rate * first / (numpy.sqrt(second) + 1e-6)
    # rare stars come out with too low a mean probability, and the share of positive reviews is estimated by these means
    for _ in range(CALIBRATIONS):
        stars = ten_stars(arrays, dense, grams @ arrays["table"])
        known = stars * ALLOWED[targets]
        arrays["output_bias"] += numpy.log((known / known.sum(axis=1, keepdims=True)).mean(axis=0) / stars.mean(axis=0))
    return arrays


def part_of(film: str) -> str:
    number = int(hashlib.sha256(film.encode()).hexdigest(), 16) % 100
    return "test" if number < 5 else "dev" if number < 8 else "train"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m recipes.sentiment", description=__doc__)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("copy", type=Path, nargs="?")
    parser.add_argument("--comments", type=Path)
    parser.add_argument("--held-out", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep-stars", action="store_true")
    parser.add_argument("--judge", action="store_true")
    given = parser.parse_args()
    warnings.filterwarnings("ignore", "lbfgs failed")
    classifier, own = Classifier.load(given.bundle), sided(given.comments)
    frame = raw.load(raw.find(), [nsmc.load("nsmc", "test").frame]).frame
    parts = frame["film"].map({film: part_of(film) for film in frame["film"].unique()}) if given.judge else "train"
    known = frame[parts == "train"] if given.judge else frame
    of_raw, of_texts = (features(classifier, documents) for documents in (known["document"], own["document"]))
    kept = classifier.heads if given.keep_stars else None
    arrays = train(of_raw, known["stars"], of_texts, own, given.seed, kept)
    if given.judge:
        print(judged(classifier, Heads(arrays), frame[parts == "dev"], frame[parts == "test"]))
    else:
        manifest = {**classifier.bundle.manifest, "sentiment": {"reviews": len(known), "texts": len(own)}}
        changed = {"README.md": model_card(LAYOUT, manifest).encode(), FILE: save(arrays)}
        write_bundle(given.copy, manifest, {**read_contents(classifier.bundle), **changed})
    if given.held_out:
        held = texts()
        held[is_held_out(held)].to_csv(given.held_out, index=False)


def judged(classifier: Classifier, heads: Heads, dev: pandas.DataFrame, test: pandas.DataFrame) -> pandas.Series:
    """Return figures of films that neither the heads nor the classifier have read; factors of sides are those of dev films."""
    found, sides, labels = {}, numpy.array(SIDES), classifier.probabilities(test["document"].tolist()) >= 0.5
    for name, films in (("dev", dev), ("test", test)):
        dense, grams = features(classifier, films["document"])
        outputs = heads(dense, grams @ heads.table)
        found[name] = outputs[:, 3:] @ OF_SIDES.T, outputs[:, 3:] @ numpy.arange(1, 11)
    # as the sentiment has it; a text without an opinion has its label's side
    given = numpy.where(outputs[:, :3].argmax(axis=1) == 1, sides[1], sides[2 * labels])
    figures = {}
    for name in ("natural", "balanced"):
        weights = [balanced(films["stars"]) if name == "balanced" else None for films in (dev, test)]
        best = max(OF_FILMS, key=lambda pair: f1(dev["stars"], found["dev"][0] * [1, *pair], weights[0]))
        figures[f"{name}: macro F1"] = f1(test["stars"], found["test"][0] * [1, *best], weights[1])
        own = f1_score(side_of(test["stars"]), given, average="macro", sample_weight=weights[1])
        figures[f"{name}: macro F1 of the sentiment"] = own
    some = test.assign(found=found["test"][1], side=side_of(test["stars"])).reset_index()
    same = some.groupby("side").sample(some["side"].value_counts().min(), random_state=0)
    figures["Spearman"] = spearmanr(some["found"], some["stars"]).statistic
    figures["Spearman, as many of each side"] = spearmanr(same["found"], same["stars"]).statistic
    figures["mean error in stars"] = mean_absolute_error(some["stars"], some["found"])
    return pandas.Series({"reviews": len(test), "films": test["film"].nunique(), **figures}).round(4)


OF_FILMS = [(a, b) for a in numpy.exp(numpy.arange(-0.4, 1.3, 0.1)) for b in numpy.exp(numpy.arange(-1.5, 0.6, 0.1))]


def f1(
    stars: "pandas.Series[int]", chances: NDArray[numpy.float64], weights: Optional[NDArray[numpy.float64]]
) -> float:
    found = numpy.array(SIDES)[chances.argmax(axis=1)]
    return float(f1_score(side_of(stars), found, average="macro", sample_weight=weights))


def balanced(stars: "pandas.Series[int]") -> NDArray[numpy.float64]:
    sides = side_of(stars)
    return (1 / sides.map(sides.value_counts())).to_numpy()


if __name__ == "__main__":
    main()
