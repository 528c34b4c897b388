"""Parts of a report's page: key figures, sections, and reviews to show."""

from typing import Any, NamedTuple, Sequence

from ...classification.attribution import Attribution


class Figure(NamedTuple):
    """A key figure: what, how much, and a line that says more."""

    name: str
    value: str
    more: str


class Example(NamedTuple):
    """A review to show, where it is from (its group and date), and the characters to mark, start to end."""

    attribution: Attribution
    origin: str
    marked: Sequence[int] = ()


class ExampleList(NamedTuple):
    """Reviews below a heading, `folded` ones to unfold."""

    heading: str
    examples: Sequence[Example]
    folded: bool = False


class Section(NamedTuple):
    """The key of a section's phrases, its chart (HTML), what fills the heading and the legend, and its reviews."""

    key: str
    chart: str
    values: dict[str, Any] = {}
    reviews: Sequence[ExampleList] = ()
