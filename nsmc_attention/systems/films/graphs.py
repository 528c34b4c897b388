"""Inputs and outputs of the graphs of a film network, by name."""

from ...model.graphs import Interface

# Of a film network: what each review is worth, and what reviews worth so much say of their film. F numbers of a review,
# D of its value, P of what is pooled
FILM_GRAPHS = {
    "reviews.onnx": Interface({"vectors": ("N", "F")}, {"scores": ("N",), "values": ("N", "D")}),
    "film.onnx": Interface({"pooled": ("N", "P"), "counts": ("N", 1)}, {"quantiles": ("N", 3)}),
}
