"""Commands that judge a bundle and show why: evaluate, behaviour, faithfulness, hops, explain, export."""

import json
import sys
from pathlib import Path
from typing import Optional

import click

from ..errors import ConfigError
from ..reviews.data import Labelled
from .options import (
    Heads,
    Model,
    Restoring,
    TextCommand,
    choices,
    data_options,
    encoding_option,
    heads_options,
    json_option,
    model_options,
    path_option,
    restoring_options,
    text_argument,
    text_column_option,
)


@click.command()
@data_options(required=True)
@model_options
@json_option
@click.option("--record", is_flag=True, help="write the figures into the bundle's manifest and model card")
@restoring_options
def evaluate(reviews: Labelled, model: Model, as_json: bool, record: bool, restoring: Restoring) -> None:
    """Score a bundle on labelled reviews.

    `--data nsmc` is the official test file.

    \b
    nsmc-attention evaluate --data nsmc
    nsmc-attention evaluate --data nsmc --restore
    nsmc-attention evaluate --data nsmc --bundle runs/first/bundle --json
    """
    from ..classification import judgement

    if record and not model.bundle:
        raise ConfigError(
            "--record: expected --bundle too, found the packaged model, which is part of the installation"
        )
    if record and restoring.bundle:
        raise ConfigError("--record: the figures of restored reviews are not the bundle's own; leave --restore out")
    classifier, test = model.load(), reviews.load("test")
    found = judgement.evaluate(classifier, test, restoring.load(model))
    print(json.dumps(found) if as_json else "\n".join(f"{name:10} {value}" for name, value in found.items()))
    if record:
        judgement.record(classifier.bundle, found, test)


@click.command()
@model_options
@click.option("--failures", is_flag=True, help="list the cases that failed, not the categories")
@click.option("--json", "as_json", is_flag=True, help="one JSON object a row")
def behaviour(model: Model, failures: bool, as_json: bool) -> None:
    """Test a bundle on 320 hand-written sentences.

    Negation, contrast, slang, typos, missing spaces.

    \b
    nsmc-attention behaviour
    nsmc-attention behaviour --bundle runs/first/bundle --failures
    """
    from ..evaluation.behaviour import cases, check, summary

    table = check(model.load().probabilities, cases())
    shown = table[~table["passed"]] if failures else summary(table)
    if as_json:
        print(shown.to_json(orient="records", lines=True, force_ascii=False).strip())
    else:
        print(shown.to_string(index=False, na_rep="", float_format="{:.3f}".format))


@click.command()
@data_options(required=True)
@model_options
@click.option("--limit", type=click.IntRange(1), default=1000, help="reviews, drawn by seed")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0)
@path_option("--plot", help=".png, .svg or .pdf, beside published figures")
@json_option
def faithfulness(reviews: Labelled, model: Model, limit: int, seed: int, plot: Optional[Path], as_json: bool) -> None:
    """Measure how faithful the attention is.

    By its agreement with erased words and gradients, beside a random order.

    \b
    nsmc-attention faithfulness --data nsmc
    nsmc-attention faithfulness --data nsmc --bundle runs/first/bundle --plot faithfulness.png
    """
    from ..classification import judgement
    from ..drawing.figure import check_suffix
    from ..visualization.faithfulness import as_text, save_plot

    if plot:
        check_suffix(plot)
    found = judgement.faithfulness(model.load(), reviews.load("test"), limit, seed)
    print(json.dumps(found) if as_json else as_text(found))
    if plot:
        save_plot({found["bundle"]: found}, plot)


@click.command()
@click.option("--data", required=True, help="nsmc, sample, or a csv, tsv, jsonl, parquet, xlsx or txt file of reviews")
@path_option("--data-dir", help="folder of the official files")
@text_column_option
@encoding_option
@click.option("--limit", type=click.IntRange(1), default=5000, help="reviews, the first ones")
@click.option("--fewest", type=click.IntRange(1), default=20, help="times that a word must occur")
@click.option("--top", type=click.IntRange(1), default=10, help="words of each hop")
@model_options
@json_option
def hops(
    data: str,
    data_dir: Optional[Path],
    text_column: Optional[str],
    encoding: Optional[str],
    limit: int,
    fewest: int,
    top: int,
    model: Model,
    as_json: bool,
) -> None:
    """Show which words each hop of structured attention takes, and how far the hops overlap.

    Of nsmc and sample the reviews of the training file. A weight is times the number of tokens: 1 is the average.

    \b
    nsmc-attention hops --data nsmc --bundle runs/structured/bundle
    nsmc-attention hops --data reviews.csv --bundle runs/structured/bundle --fewest 5 --json
    """
    from ..classification import judgement
    from ..reviews.data import Texts

    found = judgement.hops(model.load(), Texts(data, data_dir, text_column, encoding).read()[1], limit, fewest)
    found["words"] = [words[:top] for words in found["words"]]
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
        return
    for hop, words in enumerate(found["words"], 1):
        shown = ", ".join(f"{each['token']} {each['weight']:.2f}" for each in words)
        print(f"hop {hop}: {shown}")
    print(f"overlap {found['overlap']:.3f} (0: no token in common, 1: equal), {found['reviews']:,} reviews")


@click.command(cls=TextCommand)
@text_argument("give the text itself, or summarize the file with nsmc-attention report %s", required=True)
@path_option("--output", "-o", help=".png, .svg, .pdf or .html  [default: shaded words in the terminal]")
@click.option(
    "--method",
    "methods",
    multiple=True,
    default=["attention"],
    metavar=choices(["attention", "rollout", "erasure", "gradient", "integrated", "random"]),
    help="may be given again",
)
@click.option(
    "--picture",
    type=click.Choice(["matrix", "words"]),
    help="of .png, .svg, .pdf  [default: matrix of one review's attention, else words]",
)
@click.option("--by-word", is_flag=True, help="weights of words between white space, not of morphemes")
@path_option("--beside", multiple=True, help="another bundle to draw beside")
@heads_options
@model_options
def explain(
    text: tuple[str, ...],
    output: Optional[Path],
    methods: tuple[str, ...],
    picture: Optional[str],
    by_word: bool,
    beside: tuple[Path, ...],
    heads: Heads,
    model: Model,
) -> None:
    """Shade the words of a review, or draw a picture of them.

    By attention or by one of its rivals. An .html page is interactive: hovering over a word shows its value, clicking it
    shows what it attends to.

    \b
    nsmc-attention explain "가지고 있는 이야기에 비해 정말로 수준떨어지는 연출, 편집"
    nsmc-attention explain "가지고 있는 이야기에 비해 정말로 수준떨어지는 연출, 편집" --output heatmap.png
    nsmc-attention explain "배우는 좋은데 영화는 별로" --method attention --method erasure --output words.html
    nsmc-attention explain "배우는 좋은데 영화는 별로" --bundle runs/transformer/bundle --heads heads.png
    """
    from ..classification.attribution import check_method
    from ..classification.explain import explain_many
    from ..visualization.pictures import check_picture, save_attributions
    from .terminal import as_text, has_colors

    found = [check_method(method) for method in methods]
    heads.check()
    if heads.path and len(text) > 1:
        raise ConfigError(f"explain --heads: expected one TEXT, found {len(text)}; put it in quotes")
    if output:
        check_picture(output, picture, found)
    elif picture:
        raise ConfigError(f"--picture {picture}: expected --output too, as --output {picture}.png")
    classifiers = [model._replace(bundle=bundle).load() for bundle in (model.bundle, *beside)]
    reviews = explain_many(classifiers, text, methods, by_word)
    heads.save(reviews[0][0])
    if output is None:
        shown = [as_text(each, has_colors(sys.stdout)) for group in reviews for each in group]
        print(*shown, sep="\n\n")
        print("for a picture: --output words.png (or .svg, .pdf, .html)", file=sys.stderr)
        return
    save_attributions(reviews, output, picture)
    for first, *_ in reviews:
        print(f"{first.label}\t{max(first.probability, 1 - first.probability):.4f}\t{output}")


@click.command()
@path_option("--bundle", required=True)
@path_option("--output", "-o", help="model.onnx  [default: into the bundle itself]")
def export(bundle: Path, output: Optional[Path]) -> None:
    """Write a bundle's function for ONNX Runtime.

    It is compared with Gluon's on 1,000 raw texts first.
    """
    from ..classification.export import export_bundle

    print(json.dumps(export_bundle(bundle, output)))
