"""A prediction as HTML for notebooks: the words shaded by the values of some method, the matrices to unfold."""

from html import escape
from typing import TYPE_CHECKING, Literal

from ..drawing.html import in_frame, legend, matrix_html, shaded_words
from ..machine.aliases import Numbers

if TYPE_CHECKING:
    from .prediction import Prediction

# The first of METHODS that fits a classifier
AUTO = "auto"
Method = Literal["auto", "contribution", "attention", "gradient", "erasure"]
METHODS: dict[str, str] = {
    "contribution": "contribution: what each word adds to the log-odds, which are the sum and a bias",
    "attention": "attention: the weight of each word",
    "gradient": "gradient x input: how the log-odds change if the word's embedding grows a little",
    "erasure": "erasure: by how much the log-odds fall when the word is left out",
}
# Methods with values below 0, which speak for negative
SIGNED = ("contribution", "gradient", "erasure")
# Methods whose values are made of the attention's weights alone or times a value, with the matrix of these beside them
WEIGHTED = ("contribution", "attention")


def attribution_html(prediction: "Prediction", values: Numbers, method: str = "attention", source: str = "") -> str:
    """Return a prediction, which has a label, as HTML with one value a token (T,) by one of METHODS; `source` names the
    model."""
    signed, largest = method in SIGNED, float(abs(values).max())
    about = "".join(f" · {escape(each)}" for each in (prediction.opinion, source) if each)
    head = (
        f"<b>{escape(str(prediction.label))} {100 * float(prediction.score or 0):.1f} %</b> · "
        f'<span title="{escape(METHODS[method])}">{method}</span>{about} · {legend(largest, signed)}'
    )
    words = shaded_words(prediction.text, prediction.tokens, prediction.offsets, values, signed)
    has_matrix = method in WEIGHTED and prediction.weights.ndim > 1
    unfolded = matrix_html(*prediction.matrices()) if has_matrix else ""
    return in_frame(f'<div class="nsmc-head">{head}</div>{words}{unfolded}')
