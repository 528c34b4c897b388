"""What /explain is asked and returns: a review in, its words with one value each out as plain values for JSON."""

from typing import Any

from pydantic import BaseModel, Field, StrictBool

from ..classification.display import METHODS
from ..classification.explain import Explainer
from ..visualization.page import panel
from .heads import LARGEST_MATRIX, head_values


class Question(BaseModel, extra="forbid"):
    """A review and the attribution method."""

    inputs: str
    method: str = Field(
        default="attention",
        description="/readyz lists those that the server's classifier has",
        json_schema_extra={"enum": list(METHODS)},
    )
    by_word: StrictBool = Field(default=False, description="words between white space (eojeol), not morphemes")
    heads: StrictBool = Field(
        default=False, description="of a Transformer: add the weights of its heads (layers x heads x T x T)"
    )


def explanation(explainer: Explainer, question: Question) -> dict[str, Any]:
    """Return the panel of a question, without a matrix that the page would not draw, and the heads if asked for."""
    found = explainer(question.inputs, question.method)
    found = found.by_word() if question.by_word else found
    heads = {"heads": head_values(found.heads)} if question.heads else {}
    return {**panel(found if len(found.tokens) <= LARGEST_MATRIX else found.without_matrix()), **heads}
