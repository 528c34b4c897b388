"""Labels against accuracy where reviews are of another kind: the table of docs/adapting.md.

    python -m benchmarks.classification.adapting FOLDER/val.tsv [LABELS ...]
    python -m benchmarks.classification.adapting FOLDER/val.tsv choose [COUNT DRAWS]
    python -m benchmarks.classification.adapting FOLDER/val.tsv train [COUNT]
    python -m benchmarks.classification.adapting FOLDER/val.tsv neutral [COUNT]
    python -m benchmarks.classification.adapting FOLDER/val.tsv middle [COUNT]
    python -m benchmarks.classification.adapting FOLDER/val.tsv skewed [DRAWS SHARE ...]

The first, for all of LABELS, writes notebooks/adapting.csv and draws docs/pictures/adapting*.png. The second compares which
COUNT (100) rows are labelled, by the strategies of CHOICES, in DRAWS (5) draws; the third trains on COUNT (2,700) by
`train --init-from pretrained` and from random numbers; the fourth asks how well |p - 0.5| tells comments with a clear polarity
from the others, before and after adapting to COUNT (2,700); the fifth fine-tunes one network on COUNT (1,000) clear ones, and
on these and others in their share with a target of 0.5, as stars in the middle might be used; the sixth adapts to 100 comments,
in DRAWS (5) draws each from a table of which SHARE (of SHARES) are positive.

The file is KOTE's (arXiv:2205.05300), comments from twelve kinds of places: positive has at least two emotions of POSITIVE and
none of NEGATIVE, and the other way round; others are left out. Of each of five folds by id, labels are drawn from the other
four, and its own comments are judged. Prints means and standard deviations over the folds, in percent; one thread.
"""

import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Optional

os.environ["OMP_NUM_THREADS"] = "1"

import numpy
import pandas
from scipy import stats
from sklearn.metrics import balanced_accuracy_score

from benchmarks.classification.compare import tfidf_regression
from docs.make.pictures import named, save_figure
from nsmc_attention import Classifier, adapt, load_classifier, preset, train
from nsmc_attention.bundle import load_bundle
from nsmc_attention.classifier.adapt import adapt_settings
from nsmc_attention.classifier.batches import EncodedPart, encode
from nsmc_attention.classifier.origins import continuing
from nsmc_attention.classifier.settings import LAYOUT, ClassifierBundle
from nsmc_attention.classifier.stages import ClassifierTrainer
from nsmc_attention.classifier.train import tokenized_part
from nsmc_attention.corpora import nsmc
from nsmc_attention.drawing.figure import new_figure
from nsmc_attention.engines.graphs import parameters_of
from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.measure.metrics import headline, log_odds
from nsmc_attention.systems.film.rater import ReviewReader
from nsmc_attention.training.runs import Run

POSITIVE = {1, 2, 4, 7, 8, 13, 14, 16, 28, 32, 40, 42, 43}
NEGATIVE = {0, 3, 6, 9, 10, 12, 20, 21, 22, 23, 31, 33, 34, 35, 37}
FOLDS, LABELS = 5, (100, 300, 1000, 2700)
ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "notebooks" / "adapting.csv"
# What the picture says in the language of its page: the axes, the curves, the line
CAPTIONS = {
    "en": ("labels", "accuracy (%)", "adapted", "TF-IDF and logistic regression", "packaged classifier as it is"),
    "ko": ("라벨 수", "정확도(%)", "추가 학습한 모델", "TF-IDF와 로지스틱 회귀", "기본 모델 그대로"),
}
# Of so many times as many uncertain rows those are chosen that are unlike each other
AMONG = 5
# Positive shares of skewed tables
SHARES = (0.71, 0.8, 0.85, 0.9, 0.2)


def comments(path: Path, clear: bool = True) -> pandas.DataFrame:
    """Return the comments with a clear polarity, or those without: id, review, label."""
    frame = pandas.read_csv(path, sep="\t", names=["id", "review", "emotions"], quoting=3)
    emotions = [set(map(int, cell.split(","))) for cell in frame["emotions"].astype(str)]
    sides = numpy.array([(len(seen & POSITIVE), len(seen & NEGATIVE)) for seen in emotions])
    frame["label"] = (sides[:, 0] > 0).astype(int)
    return frame[((sides.max(axis=1) >= 2) & (sides.min(axis=1) == 0)) == clear].reset_index(drop=True)


def main(path: Path, counts: list[int]) -> None:
    frame, test = comments(path), nsmc.load("nsmc", "test")
    packaged = load_classifier().probabilities(frame["review"]) > 0.5
    unchanged, found = 100 * numpy.mean(packaged == frame["label"]), {}
    print(f"{len(frame):,} comments; packaged {unchanged:.1f}")
    for count in counts:
        rows = []
        for fold in range(FOLDS):
            held_out = frame[frame["id"] % FOLDS == fold]
            known = frame[frame["id"] % FOLDS != fold].sample(count, random_state=fold)
            right = held_out["label"].to_numpy() == 1
            started = time.process_time()
            with tempfile.TemporaryDirectory() as folder:
                adapted = adapt(known[["review", "label"]], Path(folder) / "run", seed=fold, force=True, quiet=True)
                seconds = time.process_time() - started
                own = adapted.bundle.manifest["adapted"]["after"]
                after = numpy.mean((adapted.probabilities(held_out["review"]) > 0.5) == right)
                films = numpy.mean((adapted.probabilities(test.documents[::10]) > 0.5) == (test.labels[::10] == 1))
            model = tfidf_regression("mecab").fit(known["review"], known["label"])
            other = numpy.mean(model.predict(held_out["review"]) == right)
            rows.append((100 * after, 100 * own, 100 * other, 100 * films, seconds))
        means, spreads = numpy.mean(rows, axis=0), numpy.std(rows, axis=0, ddof=1)
        cells = " | ".join(f"{mean:.1f} ± {spread:.1f}" for mean, spread in zip(means, spreads))
        print(f"| {count:,} | {cells} |", flush=True)
        found[count] = rows
    if counts == list(LABELS):
        save(found, unchanged)
        for language in CAPTIONS:
            draw(pandas.read_csv(FIGURES, comment="#"), language)


def save(found: Mapping[int, Sequence[tuple[float, ...]]], unchanged: float) -> None:
    """Write the figures of chapter 2 from each count's rows of (adapted, own, baseline, ...) by fold, in percent."""
    rows = []
    for count, scores in found.items():
        means, spreads = numpy.mean(scores, axis=0), numpy.std(scores, axis=0, ddof=1)
        rows.append([count, means[0], spreads[0], means[2], spreads[2], unchanged])
    names = ["labels", "adapted", "adapted_spread", "baseline", "baseline_spread", "unchanged"]
    origin = FIGURES.read_text(encoding="utf-8").splitlines()[0]
    figures = pandas.DataFrame(rows, columns=names).round(1).to_csv(index=False)
    FIGURES.write_text(f"{origin}\n{figures}", encoding="utf-8")


def draw(figures: pandas.DataFrame, language: str) -> None:
    """Draw the curve of docs/adapting.md."""
    across, up, *curves, line = CAPTIONS[language]
    with new_figure((4.8, 3.8)) as (figure, ((axes,),)):
        for column, name in zip(("adapted", "baseline"), curves):
            spreads = figures[f"{column}_spread"]
            axes.errorbar(figures["labels"], figures[column], spreads, marker="o", capsize=3, label=name)
        axes.axhline(figures["unchanged"][0], color="gray", linestyle="--", label=line)
        axes.set(xscale="log", xlabel=across, ylabel=up)
        axes.set_xticks(figures["labels"], [f"{count:,}" for count in figures["labels"]])
        axes.set_xticks([], minor=True)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1))
    save_figure(figure, named("adapting", language))


def at_random(vectors: numpy.ndarray, count: int, seed: int) -> numpy.ndarray:
    """Return the positions of `count` rows of vectors (M, F), whose last column is the log-odds of positive."""
    return numpy.random.RandomState(seed).permutation(len(vectors))[:count]


def uncertain(vectors: numpy.ndarray, count: int, seed: int) -> numpy.ndarray:
    """Return the rows whose log-odds are nearest to 0."""
    return numpy.argsort(abs(vectors[:, -1]), kind="stable")[:count]


def unlike(vectors: numpy.ndarray, count: int, seed: int) -> numpy.ndarray:
    """Return of each of `count` clusters the row that is nearest to its centre."""
    from sklearn.cluster import KMeans

    features = vectors[:, :-1]
    clusters = KMeans(count, n_init=1, random_state=seed).fit(features)
    return numpy.argmin(clusters.transform(features), axis=0)


def uncertain_and_unlike(vectors: numpy.ndarray, count: int, seed: int) -> numpy.ndarray:
    """Return the most unlike ones of the AMONG times as many that are the least certain."""
    candidates = uncertain(vectors, AMONG * count, seed)
    return candidates[unlike(vectors[candidates], count, seed)]


CHOICES = {
    "random": at_random,
    "uncertain": uncertain,
    "uncertain and unlike each other": uncertain_and_unlike,
    "unlike each other": unlike,
}


def compare_choices(path: Path, count: int, draws: int) -> None:
    """Print for each strategy the accuracy on hidden comments, how much more that is than of random rows, the log loss.

    Then what `adapt` says of the chosen rows: accuracy after and before, and in how many draws it refuses the bundle.
    """
    frame, reader = comments(path), ReviewReader(load_classifier().bundle)
    vectors = reader(frame["review"].tolist())
    scores: dict[str, list[tuple[float, ...]]] = {name: [] for name in CHOICES}
    for draw in range(draws):
        hidden = (frame["id"] % FOLDS == draw % FOLDS).to_numpy()
        pool, held_out = frame[~hidden], frame[hidden]
        for name, choose in CHOICES.items():
            known = pool.iloc[choose(vectors[~hidden], count, draw)]
            scores[name].append(chosen_score(known, held_out, draw))
            print(name, draw, scores[name][-1], file=sys.stderr, flush=True)
    usual = numpy.array(scores["random"])[:, 0]
    for name, rows in scores.items():
        columns = numpy.array(rows)
        more = columns[:, 0] - usual
        bound = stats.t.ppf(0.975, draws - 1) * numpy.std(more, ddof=1) / draws**0.5
        accuracy, loss, after, before, refused = columns.mean(axis=0)
        cells = f"{accuracy:.1f} | {more.mean():+.1f} ± {bound:.1f} | {loss:.3f} | {after:.1f} | {before:.1f}"
        print(f"| {name} | {cells} | {round(refused * draws)} of {draws} |")


def chosen_score(known: pandas.DataFrame, held_out: pandas.DataFrame, seed: int) -> tuple[float, ...]:
    """Return accuracy (%) and log loss on hidden comments, what `adapt` says after and before (%), 1 if it refuses."""
    adapted, refused = adapted_or_forced(known, seed)
    if adapted is None:
        raise SystemExit(f"draw {seed}: too few of a label")
    figures = headline(held_out["label"].to_numpy(), adapted.probabilities(held_out["review"]))
    own = adapted.bundle.manifest["adapted"]
    return 100 * figures["accuracy"], figures["log_loss"], 100 * own["after"], 100 * own["before"], float(refused)


def compare_beginnings(path: Path, count: int) -> None:
    """Print the accuracy on hidden comments of `train` on the others, by what it begins with; and its seconds."""
    frame = comments(path)
    for first in ("pretrained", None):
        scores = []
        for fold in range(FOLDS):
            held_out = frame[frame["id"] % FOLDS == fold]
            known = frame[frame["id"] % FOLDS != fold].sample(count, random_state=fold)
            config = continuing(preset("default"), first).with_fields(erasure_reviews=0, seed=fold)
            started = time.process_time()
            with tempfile.TemporaryDirectory() as folder:
                known[["review", "label"]].to_csv(Path(folder) / "known.csv", index=False)
                train(Path(folder) / "known.csv", config, Path(folder) / "run", quiet=True, init_from=first)
                seconds = time.process_time() - started
                positive = load_classifier(Path(folder) / "run").probabilities(held_out["review"]) > 0.5
            scores.append((100 * numpy.mean(positive == (held_out["label"] == 1)), seconds))
        means, spreads = numpy.mean(scores, axis=0), numpy.std(scores, axis=0, ddof=1)
        cells = " | ".join(f"{mean:.1f} ± {spread:.1f}" for mean, spread in zip(means, spreads))
        print(f"| {first or 'random numbers'} | {cells} |", flush=True)


def tell_neutral(path: Path, count: int) -> None:
    """Print how often a clear comment has a larger |p - 0.5| than an unclear one (AUC), and what a band does."""
    clear, unclear = comments(path), comments(path, clear=False)
    scores: dict[str, list[tuple[float, ...]]] = {"packaged": [], f"adapted to {count:,}": []}
    for fold in range(FOLDS):
        known = clear[clear["id"] % FOLDS != fold].sample(count, random_state=fold)
        held_out, others = (frame[frame["id"] % FOLDS == fold] for frame in (clear, unclear))
        with tempfile.TemporaryDirectory() as folder:
            adapted = adapt(known[["review", "label"]], Path(folder) / "run", seed=fold, force=True, quiet=True)
        for rows, classifier in zip(scores.values(), (load_classifier(), adapted)):
            sure, unsure = (abs(classifier.probabilities(frame["review"]) - 0.5) for frame in (held_out, others))
            larger = stats.mannwhitneyu(sure, unsure).statistic / len(sure) / len(unsure)
            rows.append((float(larger), *(100 * float(numpy.mean(part < 0.2)) for part in (sure, unsure))))
    for name, rows in scores.items():
        auc, sure, unsure = numpy.mean(rows, axis=0)
        print(
            f"{name}: AUC {auc:.3f}; between 0.3 and 0.7 are {sure:.1f} % of the clear ones, {unsure:.1f} % of the others"
        )


def learn_middle(path: Path, count: int) -> None:
    """Print the accuracy on hidden clear comments, in percent, without and with the others as soft targets."""
    clear, unclear = (comments(path, kind).rename(columns={"review": "document"}) for kind in (True, False))
    first = load_bundle(None, LAYOUT)
    scores = []
    for fold in range(FOLDS):
        held_out, known = clear[clear["id"] % FOLDS == fold], clear[clear["id"] % FOLDS != fold]
        known, others = known.sample(count, random_state=fold), unclear[unclear["id"] % FOLDS != fold]
        middle = others.sample(round(count * len(unclear) / len(clear)), random_state=fold).assign(label=0.5)
        held_out, without, both = (
            encode(tokenized_part(frame, frame["label"].to_numpy("float32"), first.config), first.codec)
            for frame in (held_out, known, pandas.concat([known, middle]))
        )
        config = adapt_settings(first.config, without, first.codec, fold)
        with tempfile.TemporaryDirectory() as folder:
            trainer = ClassifierTrainer(config, first.codec, Run(Path(folder) / "run", quiet=True))
            scores.append([tuned_accuracy(trainer, first, part, held_out) for part in (without, both)])
    more = numpy.diff(scores, axis=1)
    bound = stats.t.ppf(0.975, FOLDS - 1) * numpy.std(more, ddof=1) / FOLDS**0.5
    print(f"without and with: {numpy.mean(scores, axis=0).round(1).tolist()}; {more.mean():+.2f} ± {bound:.2f}")


def tuned_accuracy(
    trainer: ClassifierTrainer, first: ClassifierBundle, part: EncodedPart, judged: EncodedPart
) -> float:
    """Return the accuracy, in percent, of the bundle's network fine-tuned on a part."""
    network = trainer.network_of(parameters_of(first)[1])
    known, dev = (trainer.batches(each, with_ngrams=True) for each in (part, judged))
    trainer.fine_tune(network, known, dev, lambda progress, record=None: None)
    odds = trainer.odds(network, dev)
    return 100 * float(numpy.mean((odds > 0) == (judged.labels > 0.5)))


def adapt_to_skewed(path: Path, draws: int, shares: Sequence[float]) -> None:
    """Print for each share the accuracy and balanced accuracy on hidden comments, before and after; and the refusals.

    Hidden comments count as if they had the same share.
    """
    frame, packaged = comments(path), load_classifier()
    for share in shares:
        rows, refused = [], 0
        for draw in range(draws):
            random = numpy.random.RandomState(10_000 + draw)
            counts = dict(zip((0, 1), random.multinomial(100, [1 - share, share])))
            parts = [
                frame[frame["label"] == label].sample(count, random_state=random) for label, count in counts.items()
            ]
            known = pandas.concat(parts)
            hidden = frame.drop(known.index)
            adapted, was_refused = adapted_or_forced(known, draw)
            refused += was_refused
            if adapted is None:
                continue
            labels = hidden["label"].to_numpy()
            weights = numpy.where(labels == 1, share / labels.mean(), (1 - share) / (1 - labels.mean()))
            found = []
            for classifier in (packaged, adapted):
                odds = log_odds(classifier.probabilities(hidden["review"]))
                found += [
                    numpy.average((odds > 0) == labels, weights=weights),
                    balanced_accuracy_score(labels, odds > 0),
                ]
            rows.append([100 * figure for figure in found])
            print(share, draw, counts, numpy.round(rows[-1], 1), was_refused, file=sys.stderr, flush=True)
        before, balanced_before, after, balanced = numpy.mean(rows, axis=0)
        more = numpy.array(rows)[:, 2:] - numpy.array(rows)[:, :2]
        spreads = numpy.std(more, axis=0, ddof=1)
        gains = " | ".join(f"{gain:+.1f} ± {spread:.1f}" for gain, spread in zip(more.mean(axis=0), spreads))
        cells = f"{before:.1f} | {after:.1f} | {balanced_before:.1f} | {balanced:.1f} | {gains}"
        print(f"| {100 * share:.0f} % | {cells} | {refused} of {draws} |", flush=True)


def adapted_or_forced(known: pandas.DataFrame, seed: int) -> tuple[Optional[Classifier], bool]:
    """Return the adapted classifier, None where there are too few of a label, and whether it was refused."""
    for force in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            try:
                return adapt(
                    known[["review", "label"]], Path(folder) / "run", seed=seed, force=force, quiet=True
                ), force
            except ConfigError as problem:
                print(problem, file=sys.stderr)
            except DataError as problem:
                print(problem, file=sys.stderr)
                break
    return None, True


if __name__ == "__main__":
    if sys.argv[2:3] == ["choose"]:
        compare_choices(Path(sys.argv[1]), *map(int, sys.argv[3:] or (100, 5)))
    elif sys.argv[2:3] == ["neutral"]:
        tell_neutral(Path(sys.argv[1]), *map(int, sys.argv[3:] or (2700,)))
    elif sys.argv[2:3] == ["middle"]:
        learn_middle(Path(sys.argv[1]), *map(int, sys.argv[3:] or (1000,)))
    elif sys.argv[2:3] == ["skewed"]:
        adapt_to_skewed(Path(sys.argv[1]), int((sys.argv[3:] or ["5"])[0]), list(map(float, sys.argv[4:])) or SHARES)
    elif sys.argv[2:3] == ["train"]:
        compare_beginnings(Path(sys.argv[1]), *map(int, sys.argv[3:] or (2700,)))
    else:
        main(Path(sys.argv[1]), [int(word) for word in sys.argv[2:]] or list(LABELS))
