"""The command `predict`."""

from functools import partial
from typing import TYPE_CHECKING, Optional

from .declare import command, option, text_argument
from .options import Aspects, Corrections, Model, Scoring

if TYPE_CHECKING:
    from ..scoring.reference import Scorer


@command()
def predict(
    *,
    text: tuple[str, ...] = text_argument("score its rows with --input %s"),
    scoring: Scoring,
    weights: bool = option("include the attention weights (jsonl)"),
    sentiment: bool = option(
        "add sentiment (positive, neutral, negative; empty: no opinion) and expected stars, 1 to 10"
    ),
    share: Optional[str] = option(
        "add labels that favour the more common label: table (the estimated share of positive reviews), or a share",
        metavar="[table|0..1]",
    ),
    corrections: Corrections,
    aspects: Aspects,
    model: Model,
) -> None:
    """Classify reviews as positive or negative, and estimate the share of positive reviews in --input.

    \b
    nsmc-attention predict "정말 재미있는 영화였어요"
    nsmc-attention predict --input reviews.csv --output scored.csv
    nsmc-attention predict --input reviews.csv --output scored.csv --sentiment
    nsmc-attention predict --input reviews.csv --output scored.csv --restore
    nsmc-attention predict --input reviews.csv --output scored.csv --share table
    cat reviews.txt | nsmc-attention predict --format jsonl
    zcat reviews.csv.gz | nsmc-attention predict --input - --input-format csv --output scored.parquet
    """
    scoring.check("predict", text)
    from ..classifier.domain_shift import domain_warning
    from ..scoring.files import style_of

    classifier = model.load()
    form = "in words" if style_of(scoring.output, scoring.style) == "text" else "columns"
    if sentiment or form == "in words" and classifier.heads:
        classifier = classifier.with_sentiment(form)
    scorer = aspects.over(corrections.over(classifier, model))
    if share:
        scorer = leaning(scorer, share, scoring)
    scoring.score(scorer, text, weights, partial(domain_warning, classifier))


def leaning(scorer: "Scorer", share: str, scoring: Scoring) -> "Scorer":
    """Return the scorer with labels by a share; ConfigError if there is no table to estimate it from."""
    from ..classifier.positive_share import LabelsByShare, parsed_share, require_share
    from ..scoring.files import tally_table

    if (number := parsed_share(share)) is None:
        # the tally is printed when the table is written
        number = require_share(tally_table(scorer, scoring.table_twice("--share table")).share, scoring.reading.data)
    return LabelsByShare(scorer, number)
