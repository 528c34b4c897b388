"""The command `restore`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from ..errors import ConfigError
from .declare import command, option, text_argument
from .options import Model, Scoring

if TYPE_CHECKING:
    from ..systems.restore.restorer import Restorer


@command()
def restore(
    *,
    text: tuple[str, ...] = text_argument("restore its rows with --input %s"),
    scoring: Scoring,
    beam: Optional[int] = option("use the writer, with a beam of this size; 1: greedy"),
    alpha: Optional[float] = option("use the writer, with this length penalty; 0: none  [default: 0.6]"),
    min_probability: Optional[float] = option(
        "skip changes with a lower probability, 0.5 to 1  [default: 0.5 for characters, 0.6 for spaces]"
    ),
    only: Optional[str] = option("spacing: change only spaces", metavar="spacing"),
    n_best: bool = option("print all hypotheses of the writer for TEXT, best first: score, restored text"),
    picture: Optional[Path] = option(
        ".png, .svg or .pdf: the editor's tags or, with --beam, the writer's attention, for one TEXT", "--explain"
    ),
    model: Model,
) -> None:
    """Correct the spacing and spelling of texts.

    An editor corrects each character. With --beam or --alpha, a writer generates the whole text instead. If a text is
    blank or would need too many changes, it is returned unchanged; tables and jsonl give the reason.

    \b
    nsmc-attention restore "배우들연기가 정말조앗는데 스토리가별로엿다"
    nsmc-attention restore --input reviews.csv --output restored.csv
    nsmc-attention restore --beam 4 --n-best "정말재밋엇어요"
    nsmc-attention restore "정말재밋엇어요" --beam 4 --explain attention.png
    """
    scoring.check("restore", text)
    check_extras(text, scoring, n_best, picture)
    from ..systems.restore.restorer import TableRestorer

    # n-best needs a writer, which searches, of the packaged restorers
    beam = 4 if n_best and (beam, model.bundle) == (None, None) else beam
    restorer = TableRestorer.load(*model, beam=beam, alpha=alpha, min_probability=min_probability, only=only)
    if n_best:
        return print_hypotheses(restorer, text, scoring.style == "jsonl")
    scoring.score(restorer, text)
    if picture:
        from ..systems.restore.restoration import save_restoration

        save_restoration(restorer(text[0]), picture)


def check_extras(text: tuple[str, ...], scoring: Scoring, n_best: bool, picture: Optional[Path]) -> None:
    """Raise ConfigError for options that --n-best and --explain exclude."""
    for flag, value in (("--n-best", n_best), ("--explain", picture)):
        if value and text in ((), ("-",)):
            raise ConfigError(f"restore {flag}: expected TEXT, found none; give the text itself")
    if n_best and (picture or str(scoring.output) != "-" or scoring.style not in (None, "text", "jsonl")):
        raise ConfigError("restore --n-best: prints text or jsonl; leave --output, --explain and other formats out")
    if picture:
        from ..drawing.figure import check_suffix

        check_suffix(picture)
        if len(text) > 1:
            raise ConfigError(f"restore --explain: expected one TEXT, found {len(text)}")


def print_hypotheses(restorer: "Restorer", texts: tuple[str, ...], as_json: bool) -> None:
    """Print each text's hypotheses, best first: score, restored text and, if it is rejected, the reason."""
    for text in texts:
        for hypothesis in restorer.n_best(text):
            line = "\t".join([f"{hypothesis.score:.4f}", hypothesis.text, *filter(None, [hypothesis.error])])
            print(json.dumps(hypothesis.to_dict(), ensure_ascii=False) if as_json else line)
