"""The scale of a film network: read back as it was written, or refused."""

import json

import numpy
import pytest

from nsmc_attention.errors import BundleError
from nsmc_attention.systems.films.intervals import COUNTS
from nsmc_attention.systems.films.scale import Scale

SCALE = Scale("pretrained", "ab" * 32, 258, 1.0, 10.0, [0.5] * len(COUNTS))


def test_it_survives_its_json():
    assert Scale.from_json(SCALE.to_json().encode(), "scale.json") == SCALE


@pytest.mark.parametrize(
    "changes",
    [
        *({"inputs": inputs} for inputs in (0, 2**40, 3.5)),
        *({"margins": margins} for margins in ([0.5], None, ["a"] * len(COUNTS), [float("nan")] * len(COUNTS))),
        {"lowest": float("inf")},
        {"highest": "10"},
        {"classifier": 3},
        {"other": 1},
        *(b"", b"[]", b"{}", b"3", b"\xff"),
    ],
)
def test_another_content_is_refused(changes):
    content = changes
    if isinstance(changes, dict):
        content = json.dumps({**json.loads(SCALE.to_json()), **changes}).encode()
    with pytest.raises(BundleError, match="scale.json: expected the scale of a film network"):
        Scale.from_json(content, "scale.json")


def test_quantiles_become_stars_within_its_bounds():
    found = SCALE.intervals(numpy.array([[0.0, 9.0, 12.0], [4.0, 5.0, 6.0]]), numpy.array([1, 64]))
    assert found.tolist() == [[1, 9, 10], [3.5, 5, 6.5]]
