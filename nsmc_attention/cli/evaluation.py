"""Commands that evaluate, explain and export a bundle: evaluate, faithfulness, hops, explain, export."""

import json
import sys
from pathlib import Path
from typing import Optional

import click

from ..corpora.data import Labelled, Texts
from ..errors import ConfigError
from .declare import choices, command, option, text_argument
from .options import BUNDLE, HEADS, JSON, Corrections, Model, labelled, texts


@command()
def evaluate(
    *,
    reviews: Labelled = labelled(required=True),
    model: Model,
    as_json: bool = JSON,
    record: bool = option("write the metrics into the bundle's manifest and model card"),
    corrections: Corrections,
) -> None:
    """Score a bundle on labelled reviews.

    `--data nsmc` is the official test file.

    \b
    nsmc-attention evaluate --data nsmc
    nsmc-attention evaluate --data nsmc --restore
    nsmc-attention evaluate --data nsmc --bundle runs/first/bundle --json
    """
    from ..apps import evaluation
    from ..corpora.labelled import read_reviews

    if record and not model.bundle:
        raise ConfigError("--record: expected --bundle too, found the packaged model, a part of the installation")
    if record and corrections.bundle:
        raise ConfigError("--record: the figures of restored reviews are not the bundle's own; leave --restore out")
    classifier, test = model.load(), read_reviews(reviews, "test")
    figures = evaluation.evaluate(classifier, test, corrections.load(model))
    print(json.dumps(figures) if as_json else "\n".join(f"{name:10} {value}" for name, value in figures.items()))
    if record:
        evaluation.record(classifier.bundle, figures, test)


@command()
def faithfulness(
    *,
    reviews: Labelled = labelled(required=True),
    model: Model,
    limit: int = option("number of reviews, drawn by --seed", type=click.IntRange(1), default=1000),
    seed: int = option(type=click.IntRange(0, 2**31 - 1), default=0),
    as_json: bool = JSON,
) -> None:
    """Measure how faithful the attention is.

    Compare the order of words by attention with the orders by erasure and by gradients, and with a random order.

    \b
    nsmc-attention faithfulness --data nsmc
    nsmc-attention faithfulness --data nsmc --bundle runs/first/bundle --json
    """
    from ..apps import evaluation
    from ..corpora.labelled import read_reviews
    from ..views.terminal import faithfulness_table

    figures = evaluation.faithfulness(model.load(), read_reviews(reviews, "test"), limit=limit, seed=seed)
    print(json.dumps(figures) if as_json else faithfulness_table(figures))


@command()
def hops(
    *,
    reviews: Texts = texts("nsmc, sample, or a csv, tsv, jsonl, parquet, xlsx or txt file of reviews"),
    limit: int = option("number of reviews, from the first", type=click.IntRange(1), default=5000),
    fewest: int = option("minimum count of a word", type=click.IntRange(1), default=20),
    top: int = option("number of words per hop", type=click.IntRange(1), default=10),
    model: Model,
    as_json: bool = JSON,
) -> None:
    """Show which words each hop of structured attention attends to, and how much the hops overlap.

    nsmc and sample are the training reviews. Weights are multiplied by the number of tokens: 1 is the average.

    \b
    nsmc-attention hops --data nsmc --bundle runs/structured/bundle
    nsmc-attention hops --data reviews.csv --bundle runs/structured/bundle --fewest 5 --json
    """
    from ..apps import evaluation

    statistics = evaluation.hops(model.load(), reviews.read()[1], limit, fewest)
    statistics["words"] = [words[:top] for words in statistics["words"]]
    if as_json:
        print(json.dumps(statistics, ensure_ascii=False))
        return
    for hop, words in enumerate(statistics["words"], 1):
        weighted = ", ".join(f"{word['token']} {word['weight']:.2f}" for word in words)
        print(f"hop {hop}: {weighted}")
    print(f"overlap {statistics['overlap']:.3f} (0: no token in common, 1: equal), {statistics['reviews']:,} reviews")


@command()
def explain(
    *,
    text: tuple[str, ...] = text_argument(
        "give the text itself, or summarize the file with nsmc-attention report %s", required=True
    ),
    output: Optional[Path] = option(".png, .svg, .pdf or .html  [default: shaded words in the terminal]", "-o"),
    methods: tuple[str, ...] = option(
        "may be repeated; auto: contribution if the bundle has contributions, else attention",
        "--method",
        multiple=True,
        default=["auto"],
        metavar=choices(["auto", "contribution", "attention", "erasure", "gradient"]),
    ),
    picture: Optional[str] = option(
        "for .png, .svg, .pdf  [default: matrix of one review's attention, else words]",
        type=click.Choice(["matrix", "words"]),
    ),
    by_word: bool = option("show values per word between white space, not per morpheme"),
    beside: tuple[Path, ...] = option("another bundle to draw beside the first", multiple=True),
    heads: Optional[Path] = HEADS,
    model: Model,
) -> None:
    """Shade the words of a review, or draw a picture of them.

    The shades show contributions, attention or the values of another method. In an .html page, point at a word to see
    its value, and click it to see what it attends to.

    \b
    nsmc-attention explain "가지고 있는 이야기에 비해 정말로 수준떨어지는 연출, 편집"
    nsmc-attention explain "가지고 있는 이야기에 비해 정말로 수준떨어지는 연출, 편집" --output heatmap.png
    nsmc-attention explain "배우는 좋은데 영화는 별로" --method attention --method erasure --output words.html
    nsmc-attention explain "배우는 좋은데 영화는 별로" --bundle runs/transformer/bundle --heads heads.png
    """
    from ..classifier.attribution import check_method
    from ..classifier.explain import explain_many
    from ..classifier.prediction import AUTO
    from ..drawing.figure import check_suffix
    from ..views.page import check_picture, save_attributions, save_heads
    from ..views.terminal import as_text, has_colors

    checked = [check_method(method) for method in methods]
    if picture == "matrix":
        # the only method with a matrix
        checked = ["attention" if method == AUTO else method for method in checked]
    if heads and check_suffix(heads) and len(text) > 1:
        raise ConfigError(f"explain --heads: expected one TEXT, found {len(text)}; put it in quotes")
    if output:
        check_picture(output, picture, checked)
    elif picture:
        raise ConfigError(f"--picture {picture}: expected --output too, as --output {picture}.png")
    classifiers = [model._replace(bundle=bundle).load() for bundle in (model.bundle, *beside)]
    reviews = explain_many(classifiers, text, checked, by_word)
    if heads:
        save_heads(reviews[0][0], heads)
    if output is None:
        results = [as_text(attribution, has_colors(sys.stdout)) for group in reviews for attribution in group]
        print(*results, sep="\n\n")
        print("for a picture: --output words.png (or .svg, .pdf, .html)", file=sys.stderr)
        return
    save_attributions(reviews, output, picture)
    for first, *_ in reviews:
        print(f"{first.label}\t{max(first.probability, 1 - first.probability):.4f}\t{output}")


@command()
def export(
    *,
    bundle: Optional[Path] = BUNDLE,
    output: Optional[Path] = option("model.onnx  [default: in the bundle of --bundle itself]", "-o"),
    kind: str = option(
        "onnx, or params: Gluon's parameter file, for `load_parameters`",
        "--format",
        "-f",
        type=click.Choice(["onnx", "params"]),
        default="onnx",
    ),
) -> None:
    """Write a bundle's model for ONNX Runtime, or its parameters for Gluon.

    First, the outputs of the ONNX model and of Gluon are compared on 1,000 raw texts.

    \b
    nsmc-attention export --bundle runs/first/bundle --output model.onnx
    nsmc-attention export --bundle runs/first/bundle --output first.params --format params
    """
    if not output and (kind == "params" or not bundle):
        raise ConfigError(f"export: expected --output, as -o model.{kind}: the bundle stays as it is")
    from ..classifier.export import export_bundle

    print(json.dumps(export_bundle(bundle, output, kind)))
