"""What `train` takes for a classifier."""

from pathlib import Path
from typing import NamedTuple, Optional

from ..cli.declare import option
from ..cli.options import INIT_FROM


class TrainOptions(NamedTuple):
    """What a classifier begins with and learns beside the labels."""

    valid: Optional[Path] = option("labelled file to choose the epoch by")
    init_from: Optional[Path] = INIT_FROM
    embeddings: Optional[Path] = option(
        "of a classifier: word vectors that its embeddings begin with, in the text format of word2vec or fastText"
    )
    teacher: Optional[str] = option(
        "of a classifier: others, with commas between, or pretrained, whose probabilities are learnt beside the labels and "
        "stars"
    )
    sentences: Optional[Path] = option(
        "of a classifier: sentences learnt beside the labels and stars, a table with document, label (0 to 1) and signs, "
        "start:end:sign of characters",
        "--sentences",
        "--negations",
    )
