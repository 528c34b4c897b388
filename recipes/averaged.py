"""The mean of classifiers with the same initial parameters, whose table of n-grams is then trained on sentences.

    python -m recipes.averaged OUT BUNDLE ... [--sentences FILE.csv] [--unread BUNDLE] [--strength 8] [--held 3]

The mean of networks trained from the same parameters with several seeds is one network, and usually better than each of
them (Wortsman et al. 2022, arXiv:2203.05482). The weights of its n-grams are changed by v, which minimizes

    sum over sentences of log(1 + exp(-y (odds + x v)))  +  |v|^2 / (2 strength)  +  held / 2 sum over reviews of (x v)^2

for labels y of -1 and 1 and the features x of the n-grams, so that the log-odds of NSMC reviews hardly change. The n-grams
learn little if the classifier was trained on the sentences; with --unread, the odds are those of a classifier that was not,
and the log-odds of raw reviews are kept too. Finally, the mean is calibrated on the dev part, as after training, and
written with rounded tables.
"""

import argparse
import shlex
import warnings
from pathlib import Path

import numpy
import pandas
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit

from nsmc_attention.bundle import load_bundle
from nsmc_attention.classifier.batches import EncodedPart, TrainingPart, encode
from nsmc_attention.classifier.ngrams import NgramTable, presence, tfidf
from nsmc_attention.classifier.origins import read_sentences, unmarked
from nsmc_attention.classifier.settings import LAYOUT
from nsmc_attention.classifier.stages import ClassifierTrainer
from nsmc_attention.classifier.train import split, tokenized, write_classifier
from nsmc_attention.corpora import nsmc, raw
from nsmc_attention.engines.graphs import parameters_of
from nsmc_attention.machine.aliases import Arrays, Network
from nsmc_attention.network.parameters import NGRAM_TABLE, round_tables, snapshot, wide_scale
from nsmc_attention.training.runs import Run
from nsmc_attention.training.task import manifest_of

# Largest number of solver steps
STEPS = 100
Odds = NDArray[numpy.float64]


def mean_of(networks: list[Arrays]) -> Arrays:
    """Return the mean of the parameters of networks, {name: array}."""
    return {name: numpy.mean([arrays[name] for arrays in networks], axis=0) for name in networks[0]}


def features(trainer: ClassifierTrainer, network: Network, part: EncodedPart) -> sparse.csr_matrix:
    """Return the features x of a part's n-grams, (N, buckets)."""
    table = snapshot(network)[NGRAM_TABLE]
    tokens, factors = [review.tokens for review in part.reviews], trainer.factors(network, part)
    return tfidf(presence(tokens, len(table), factors), numpy.sqrt(table[:, 1])).tocsr()


def fitted(
    own: sparse.csr_matrix, labels: Odds, odds: Odds, films: sparse.csr_matrix, strength: float, held: float
) -> Odds:
    """Return v of the module's formula, for sentences with labels 0 or 1 and reviews of films."""
    signs, own_turned, films_turned = 2 * labels - 1, own.T.tocsr(), films.T.tocsr()

    def loss(v: Odds) -> tuple[float, Odds]:
        margins, change = signs * (odds + own @ v), films @ v
        value = numpy.logaddexp(0, -margins).sum() + v @ v / (2 * strength) + held / 2 * change @ change
        return value, v / strength + held * (films_turned @ change) - own_turned @ (signs * expit(-margins))

    return minimize(loss, numpy.zeros(own.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x


def with_learnt_ngrams(
    trainer: ClassifierTrainer,
    arrays: Arrays,
    odds: Odds,
    sentences: EncodedPart,
    films: list[EncodedPart],
    *penalties: float,
) -> Arrays:
    """Return the parameters with v in their table of n-grams, by the log-odds of sentences and the features of films."""
    network = trainer.network_of(arrays, dropout=False)
    own = features(trainer, network, sentences)
    # few of a million buckets
    used = numpy.flatnonzero(own.getnnz(axis=0))
    of_films = sparse.vstack([features(trainer, network, part)[:, used] for part in films]).tocsr()
    change = fitted(own[:, used].tocsr(), sentences.labels, odds, of_films, *penalties)
    table = arrays[NGRAM_TABLE].copy()
    table[used, 0] += change * numpy.sqrt(table[used, 1]) / wide_scale(arrays)
    return {**arrays, NGRAM_TABLE: table}


def encoded(trainer: ClassifierTrainer, frame: pandas.DataFrame) -> EncodedPart:
    """Return the documents that have tokens, with their labels."""
    part = TrainingPart(trainer.encoder.encode_many([*frame["document"]]), frame["label"].to_numpy("float64"), frame)
    return part.take([number for number, review in enumerate(part.reviews) if len(review)])


def raw_reviews() -> pandas.DataFrame:
    """Return document and label of the raw reviews that are in no official file."""
    frame = raw.load(raw.find(), [nsmc.load("nsmc", part).frame for part in ("train", "test")]).frame
    return frame.assign(label=frame["stars"] > 5)


def main() -> None:
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(prog="python -m recipes.averaged", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("bundles", type=Path, nargs="+")
    parser.add_argument("--sentences", type=Path)
    parser.add_argument("--unread", type=Path)
    parser.add_argument("--strength", type=float, default=8.0)
    parser.add_argument("--held", type=float, default=3.0)
    given = parser.parse_args()
    bundles = [load_bundle(path, LAYOUT) for path in given.bundles]
    unread = load_bundle(given.unread, LAYOUT) if given.unread else None
    first, reviews, run = bundles[0], nsmc.load("nsmc", "train"), Run(given.out)
    config = first.config
    run.check({})
    train, dev = (encode(part, first.codec) for part in split(tokenized(reviews, config), config.training))
    trainer = ClassifierTrainer(config, first.codec, run)
    arrays, sentences = mean_of([parameters_of(bundle)[1] for bundle in bundles]), None
    if given.sentences:
        sentences = read_sentences(given.sentences)
        part = encoded(trainer, unmarked(sentences.frame).drop_duplicates("document"))
        reader = trainer.network_of(parameters_of(unread)[1] if unread else arrays, dropout=False)
        odds = trainer.odds(reader, trainer.batches(part, with_ngrams=True))
        films = [train, *([encoded(trainer, raw_reviews())] if unread else [])]
        arrays = with_learnt_ngrams(trainer, arrays, odds, part, films, given.strength, given.held)
    network = trainer.network_of(arrays, dropout=False)
    ngrams = NgramTable(arrays[NGRAM_TABLE], 1.0)
    figures = trainer.calibrate(network, trainer.batches(dev, with_ngrams=True), ngrams)
    round_tables(network)
    words = [given.out.name, *(each.name for each in bundles)]
    words += ["--sentences", sentences.name] if sentences else []
    words += ["--unread", unread.name] if unread else []
    words += ["--strength", str(given.strength), "--held", str(given.held)]
    command = shlex.join(["python", "-m", "recipes.averaged", *words])
    data = {**bundles[-1].manifest["data"]}
    if len(bundles) > 1:
        names, fingerprints = [each.name for each in bundles], [each.fingerprint for each in bundles]
        data["mean_of"] = {"name": ",".join(names), "fingerprint": ",".join(fingerprints)}
    if sentences:
        data["sentences_of_ngrams"] = sentences.describe()
    manifest = manifest_of(config, data, figures["after"], command)
    given.out.mkdir(parents=True, exist_ok=True)
    codec = {"vocab.json": first.read("vocab.json")}, first.codec
    written = write_classifier(run, network, config, codec, {**manifest, "calibration": figures}, reviews.documents)
    print(f"dev accuracy {100 * figures['after']['accuracy']:.2f} %; bundle: {written.folder}")


if __name__ == "__main__":
    main()
