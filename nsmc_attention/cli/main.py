"""The command `nsmc-attention`: parse, call one function of the library, print. It composes nothing itself.

Results go to stdout, progress and messages to stderr. Exit codes: 0 done, 2 bad input or usage (one line),
1 a bug (traceback), 130 interrupted (SIGINT), 143 terminated (SIGTERM), 141 whoever read the output is gone. The
library is imported inside the commands: `--help` is instant.
"""

import json
import os
import signal
import sys
from pathlib import Path

import click
from click.utils import PacifyFlushWrapper

from .. import config as settings
from .._io.atomic import NO_ROOM
from .._runtime import signals
from ..errors import ConfigError, NsmcError
from ..version import __version__

# 128 + SIGPIPE, as of other programs whose reader has gone
CLOSED_PIPE = 141


def main(arguments=None):
    """Run the command line; never returns."""
    # UTF-8 whatever the locale says; a stream that the shell has closed is None
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(encoding="utf-8-sig", errors="strict")
    with signals.as_exceptions():
        code = run(arguments)
    sys.exit(code)


def run(arguments=None):
    """Run a command line and answer its exit code."""
    try:
        arguments = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
        commands.main(arguments, obj=arguments, prog_name="nsmc-attention", standalone_mode=False)
        sys.stdout.flush()
    except NsmcError as problem:
        return complain(problem)
    except click.ClickException as problem:
        return complain(problem.format_message())
    except (click.Abort, KeyboardInterrupt):
        return ended(signal.SIGINT)
    except signals.Ended as problem:
        return ended(problem.code - 128)
    except (BrokenPipeError, SystemExit) as problem:
        # click ends a command whose reader has gone by SystemExit too, and wraps stdout
        if isinstance(problem, SystemExit) and type(sys.stdout) is not PacifyFlushWrapper:
            return problem.code
        # so that the interpreter's own flush at exit is quiet too
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except UnicodeDecodeError as problem:
        return complain(
            f"stdin: expected UTF-8 text, found byte 0x{problem.object[problem.start]:02x}; "
            "convert it first (from CP949: iconv -f cp949 -t utf-8)"
        )
    except OSError as problem:
        if problem.errno in NO_ROOM and problem.filename is None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return complain(f"stdout: {problem.strerror}; make room")
        if problem.filename is None:
            raise
        return complain(f"{problem.filename}: {problem.strerror}; choose another place or make room")
    return 0


def ended(number):
    print(signals.ENDINGS[number], file=sys.stderr)
    return 128 + number


def complain(message):
    print(f"error: {NsmcError(' '.join(str(message).split()))}", file=sys.stderr)
    return 2


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="nsmc-attention")
def commands():
    """Korean film-review sentiment with self-attention that can be read.

    \b
    nsmc-attention predict "정말 재미있는 영화였어요"
    nsmc-attention explain "지루하고 수준떨어지는 연출" --output heatmap.png
    nsmc-attention train --data nsmc --out runs/first
    nsmc-attention evaluate --data nsmc --bundle runs/first/bundle
    """


def config_options(command):
    """Give a command one option for each field of the config; what is not given stays with the preset."""
    for item in reversed(settings.all_fields().values()):
        kind = click.Choice(item.metadata["choices"]) if item.metadata["choices"] else item.type
        text = f"{item.metadata['help']}  [default preset: {item.default}]"
        command = click.option(f"--{item.name.replace('_', '-')}", item.name, type=kind, help=text)(command)
    return command


def data_options(command):
    for option in (
        click.option("--data", required=True, help="nsmc, sample, or a labelled csv, tsv, jsonl or parquet file"),
        click.option("--data-dir", type=click.Path(path_type=Path), help="folder of the official files"),
        column_options,
    ):
        command = option(command)
    return command


def column_options(command):
    for option in (
        click.option("--text-column", default="document", show_default=True),
        click.option("--label-column", default="label", show_default=True),
    ):
        command = option(command)
    return command


def kind_option(command):
    return click.option(
        "--input-format",
        "kind",
        type=click.Choice(["csv", "tsv", "jsonl", "parquet", "lines"]),
        help="[default: by the file's suffix; of stdin, lines]",
    )(command)


def engine_options(command):
    for option in (
        click.option("--bundle", type=click.Path(path_type=Path), help="bundle folder  [default: the packaged one]"),
        click.option("--engine", default="auto", show_default=True, help="auto, onnx or gluon"),
        click.option(
            "--device",
            default="auto",
            show_default=True,
            type=click.Choice(["auto", "cpu", "gpu"]),
            help="for the gluon engine",
        ),
    ):
        command = option(command)
    return command


@commands.command()
@click.argument("what", type=click.Choice(["nsmc", "raw"]))
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    help="where to  [default: where it is already ($NSMC_ATTENTION_DATA), else the cache folder]",
)
def fetch(what, data_dir):
    """Download a corpus and say where it is.

    nsmc: the official files, verified by sha256. raw: the archive with all star reviews (47 MB and more), which
    the preset `extended` learns from.
    """
    from ..reviews import nsmc, raw

    found = [raw.find(data_dir)] if what == "raw" else [nsmc.find(part, data_dir) for part in nsmc.FILES]
    print(*found, sep="\n")


@commands.command()
@data_options
@click.option("--valid", type=click.Path(path_type=Path), help="labelled file to choose the epoch by")
@click.option("--preset", show_default="default, or what the run began with", help=", ".join(settings.PRESETS))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("runs/latest"),
    show_default=True,
    help="run folder, new unless --resume",
)
@click.option("--resume", is_flag=True, help="go on where the run in --out was stopped")
@click.option("--device", default="auto", show_default=True, type=click.Choice(["auto", "cpu", "gpu"]))
@click.option(
    "--kvstore",
    default="local",
    show_default=True,
    type=click.Choice(["local", "dist_sync"]),
    help="dist_sync: several processes, here or, by the DMLC_* variables, on several machines",
)
@click.option(
    "--workers", type=click.IntRange(1, 64), help="processes here that share each batch, of dist_sync  [default: 2]"
)
@config_options
@click.pass_obj
def train(
    arguments, data, data_dir, text_column, label_column, valid, preset, out, resume, device, kvstore, workers, **fields
):
    """Train a classifier; the run folder ends with its bundle.

    \b
    nsmc-attention train --data nsmc --out runs/first
    nsmc-attention train --data nsmc --out runs/first --resume
    nsmc-attention train --data reviews.csv --hidden-size 64 --out runs/mine
    nsmc-attention train --data nsmc --kvstore dist_sync --workers 4 --out runs/shared
    """
    from .. import recipe
    from ..training.distributed import communicator as distributed
    from ..training.distributed import launcher

    if resume and not preset:
        base = settings.Config.from_dict(recipe.read_settings(out)["config"])
    else:
        base = settings.preset(preset or "default")
    config = base.with_fields(**{name: value for name, value in fields.items() if value is not None})
    if workers and kvstore == "local":
        raise ConfigError("--workers: expected --kvstore dist_sync beside it, found local")
    if kvstore == "dist_sync" and "DMLC_ROLE" not in os.environ:
        return launcher.launch(arguments, workers or 2)
    with distributed.worker_group(kvstore) as group:
        recipe.train(
            data,
            config,
            out,
            valid=valid,
            resume=resume,
            device=device,
            data_dir=data_dir,
            quiet=not group.first,
            text_column=text_column,
            label_column=label_column,
            workers=group,
        )


@commands.command()
@data_options
@engine_options
@click.option("--json", "as_json", is_flag=True, help="one JSON object")
@click.option("--record", is_flag=True, help="write the figures into the bundle's manifest and model card")
def evaluate(data, data_dir, text_column, label_column, bundle, engine, device, as_json, record):
    """Score a bundle on labelled reviews; `--data nsmc` is the official test file.

    \b
    nsmc-attention evaluate --data nsmc
    nsmc-attention evaluate --data nsmc --bundle runs/first/bundle --json
    """
    from ..inference.predictor import load_classifier
    from ..judgement import evaluate as score
    from ..judgement import record as write
    from ..reviews import tables

    classifier = load_classifier(bundle, engine, device)
    reviews = tables.load(data, "test", data_dir, text_column, label_column)
    found = score(classifier, reviews)
    print(json.dumps(found) if as_json else "\n".join(f"{name:10} {value}" for name, value in found.items()))
    if record:
        write(classifier.bundle, found, reviews)


@commands.command()
@engine_options
@click.option("--failures", is_flag=True, help="list the cases that failed, not the categories")
@click.option("--json", "as_json", is_flag=True, help="one JSON object a row")
def behaviour(bundle, engine, device, failures, as_json):
    """Check a bundle on small own sentences: negation, contrast, slang, typos, missing spaces.

    \b
    nsmc-attention behaviour
    nsmc-attention behaviour --bundle runs/first/bundle --failures
    """
    from ..evaluation.behaviour import cases, check, summary
    from ..inference.predictor import load_classifier

    table = check(load_classifier(bundle, engine, device).probabilities, cases())
    shown = table[~table["passed"]] if failures else summary(table)
    print(
        shown.to_json(orient="records", lines=True, force_ascii=False).strip()
        if as_json
        else shown.to_string(index=False, na_rep="", float_format="{:.3f}".format)
    )


@commands.command()
@data_options
@engine_options
@click.option("--limit", type=click.IntRange(1), default=1000, show_default=True, help="reviews, drawn by seed")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True)
@click.option("--plot", type=click.Path(path_type=Path), help=".png, .svg or .pdf, beside published figures")
@click.option("--json", "as_json", is_flag=True, help="one JSON object")
def faithfulness(data, data_dir, text_column, label_column, bundle, engine, device, limit, seed, plot, as_json):
    """Measure how far the attention can be believed: against erasing words and gradients, beside a random order.

    \b
    nsmc-attention faithfulness --data nsmc
    nsmc-attention faithfulness --data nsmc --bundle runs/first/bundle --plot faithfulness.png
    """
    from ..inference.predictor import load_classifier
    from ..judgement import faithfulness as measure
    from ..reviews import tables
    from ..visualization.faithfulness import as_text, save_plot
    from ..visualization.heatmap import check_suffix

    if plot:
        check_suffix(plot)
    classifier = load_classifier(bundle, engine, device)
    found = measure(classifier, tables.load(data, "test", data_dir, text_column, label_column), limit, seed)
    print(json.dumps(found) if as_json else as_text(found))
    if plot:
        save_plot({found["bundle"]: found}, plot)


@commands.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--data", default="nsmc", show_default=True, help="nsmc, sample, or a labelled file")
@click.option("--data-dir", type=click.Path(path_type=Path), help="folder of the official files")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("runs/comparison"),
    show_default=True,
    help="folder; runs that it has already are not trained again",
)
@click.option("--seeds", default="0", show_default=True, help="seeds, as 0,1,2")
@click.option("--test", is_flag=True, help="score the test file too, of nsmc and sample")
@column_options
@config_options
def compare(names, data, data_dir, out, seeds, test, text_column, label_column, **fields):
    """Train and score presets and baselines (majority, tfidf) beside each other.

    \b
    nsmc-attention compare majority tfidf average default --data nsmc
    nsmc-attention compare default --seeds 0,1,2 --hidden-size 64 --out runs/narrow
    """
    from .. import comparison

    if fields.pop("seed") is not None:
        raise ConfigError("compare: expected --seeds, found --seed")
    try:
        numbers = tuple(int(seed) for seed in seeds.split(","))
    except ValueError:
        raise ConfigError(f"--seeds: expected whole numbers as 0,1,2, found {seeds!r}") from None
    changes = {name: value for name, value in fields.items() if value is not None}
    table = comparison.compare(
        data,
        names,
        out,
        numbers,
        test,
        changes,
        data_dir,
        report=lambda row: print(row, file=sys.stderr),
        text_column=text_column,
        label_column=label_column,
    )
    print(comparison.as_markdown(table), end="")


@commands.command()
@click.argument("text", nargs=-1)
@click.option(
    "--input",
    "source",
    type=click.Path(path_type=Path, allow_dash=True),
    help="csv, tsv, jsonl, parquet or txt file, or - for stdin",
)
@kind_option
@click.option("--output", type=click.Path(path_type=Path, allow_dash=True), default=Path("-"), show_default=True)
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "csv", "tsv", "jsonl", "parquet"]),
    help="[default: by the output's suffix, else text]",
)
@click.option("--text-column", default="document", show_default=True)
@click.option("--weights", is_flag=True, help="with the attention weights (jsonl)")
@click.option("--verbatim", is_flag=True, help="csv, tsv: no ' before what a spreadsheet would compute")
@engine_options
def predict(text, source, kind, output, style, text_column, weights, verbatim, bundle, engine, device):
    """Tell whether reviews are positive or negative.

    \b
    nsmc-attention predict "정말 재미있는 영화였어요"
    nsmc-attention predict --input reviews.csv --output scored.csv
    cat reviews.txt | nsmc-attention predict --format jsonl
    zcat reviews.csv.gz | nsmc-attention predict --input - --input-format csv --output scored.parquet
    """
    from ..inference.predictor import load_classifier
    from ..inference.scoring import score_lines, score_table
    from ..reviews import pieces

    if text and source:
        raise ConfigError("predict: give reviews or --input, not both")
    if kind and not source:
        raise ConfigError("predict: --input-format needs --input, which may be - for stdin")
    classifier = load_classifier(bundle, engine, device)
    if source is None or str(source) == "-" and not kind:
        lines = text or (line.rstrip("\r\n") for line in pieces.lines(sys.stdin, pieces.STDIN))
        score_lines(classifier, lines, output, style, weights, verbatim)
    else:
        score_table(classifier, source, output, style, weights, text_column, kind=kind, verbatim=verbatim)


@commands.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--output", required=True, type=click.Path(path_type=Path), help=".png, .svg, .pdf or .html")
@click.option(
    "--method",
    "methods",
    multiple=True,
    default=["attention"],
    show_default=True,
    help="attention, erasure, gradient, integrated, random; may be given again",
)
@click.option(
    "--picture",
    type=click.Choice(["matrix", "words"]),
    help="of .png, .svg, .pdf  [default: matrix of one review's attention, else words]",
)
@click.option("--by-word", is_flag=True, help="weights of words between white space, not of morphemes")
@click.option("--beside", multiple=True, type=click.Path(path_type=Path), help="another bundle to draw beside")
@engine_options
def explain(text, output, methods, picture, by_word, beside, bundle, engine, device):
    """Draw which words each word of a review looks at, or what other methods lay on each word.

    An .html page is interactive: it shows the value of a word pointed at, and what a word clicked looks at.

    \b
    nsmc-attention explain "가지고 있는 이야기에 비해 정말로 수준떨어지는 연출, 편집" --output heatmap.png
    nsmc-attention explain "배우는 좋은데 영화는 별로" --method attention --method erasure --output words.html
    """
    from ..inference.attribution import check_method
    from ..inference.explain import explain_many
    from ..inference.predictor import load_classifier
    from ..visualization.pictures import check_picture, save_attributions

    check_picture(output, picture, [check_method(method) for method in methods])
    classifiers = [load_classifier(each, engine, device) for each in (bundle, *beside)]
    reviews = explain_many(classifiers, text, methods, by_word)
    save_attributions(reviews, output, picture)
    for first, *_ in reviews:
        print(f"{first.label}\t{max(first.probability, 1 - first.probability):.4f}\t{output}")


@commands.command()
@click.option("--bundle", type=click.Path(path_type=Path), required=True)
@click.option("--output", type=click.Path(path_type=Path), help="model.onnx  [default: into the bundle itself]")
def export(bundle, output):
    """Write a bundle's function for ONNX Runtime, after comparing it with Gluon on 1,000 raw texts."""
    from ..export import export_bundle

    print(json.dumps(export_bundle(bundle, output)))


@commands.command()
@click.argument("sources", nargs=-1, required=True, metavar="FILES...")
@click.option("--output", required=True, type=click.Path(path_type=Path), help="folder, one file a partition")
@click.option("--format", "style", default="parquet", show_default=True, help="csv, tsv, jsonl or parquet")
@click.option("--text-column", default="document", show_default=True)
@click.option("--scheduler", help="address of a running Dask scheduler  [default: processes here]")
@click.option("--workers", type=click.IntRange(1), help="processes here  [default: as many as cores]")
@click.option("--rows", type=click.IntRange(1), default=50_000, show_default=True, help="rows of a partition")
@click.option("--verbatim", is_flag=True, help="csv, tsv: no ' before what a spreadsheet would compute")
@click.option("--bundle", type=click.Path(path_type=Path), help="bundle folder  [default: the packaged one]")
@click.option("--engine", default="auto", show_default=True, help="auto, onnx or gluon")
def bulk(sources, output, style, text_column, scheduler, workers, rows, verbatim, bundle, engine):
    """Score files, patterns and folders of any size on Dask; a rerun scores what is missing.

    \b
    pip install 'nsmc_attention[bulk]'
    nsmc-attention bulk "reviews/*.parquet" --output scored
    nsmc-attention bulk reviews/ --output scored --scheduler tcp://host:8786
    """
    from .. import bulk as dask

    found = dask.bulk(sources, output, style, text_column, bundle, engine, scheduler, workers, rows, verbatim)
    print(f"{found['partitions']} partitions in {output}, {found['scored']} of them ({found['rows']} reviews) now")


@commands.command()
@click.argument("source", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--output", "-o", required=True, type=click.Path(path_type=Path), help="the page, .html")
@click.option("--group-by", help="column to compare by, as the film")
@click.option("--date-column", help="column of dates, to show months")
@click.option("--text-column", default="document", show_default=True)
@click.option("--tables", type=click.Path(path_type=Path), help="folder for the tables as csv")
@kind_option
@engine_options
def report(source, output, group_by, date_column, text_column, tables, kind, bundle, engine, device):
    """Tell what viewers think: shares, words of praise and blame, telling reviews, on one page.

    \b
    nsmc-attention report reviews.csv --output report.html
    nsmc-attention report reviews.csv -o report.html --group-by film --date-column date
    """
    from ..inference.predictor import load_classifier
    from ..report.build import report as write

    write(load_classifier(bundle, engine, device), source, output, group_by, date_column, text_column, tables, kind)
    print(output)


@commands.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="0.0.0.0 for every network this machine is in")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 for any that is free")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="processes")
@click.option("--bundle", type=click.Path(path_type=Path), help="bundle folder  [default: the packaged one]")
@click.option("--engine", default="auto", show_default=True, help="auto, onnx or gluon")
def serve(host, port, workers, bundle, engine):
    """Serve a page to play with and an HTTP API.

    \b
    pip install 'nsmc_attention[serve]'
    nsmc-attention serve
    curl -s localhost:8000/predict -H 'Content-Type: application/json' -d '{"inputs": "정말 재미있는 영화였어요"}'
    """
    from ..serve.server import serve as run_server

    run_server(host, port, bundle, engine, workers)
