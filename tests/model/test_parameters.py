import struct

import numpy
import pytest

from nsmc_attention.classification.settings import preset
from nsmc_attention.errors import BundleError
from nsmc_attention.model.parameters import ARRAY_MAGIC, FILE_MAGIC, all_finite, read_gluon_file

# One byte of int8
SMALL = struct.pack("<IiIqiii", ARRAY_MAGIC, 0, 1, 1, 1, 0, 5) + b"\0"


def file_of(arrays, names):
    """Return a parameter file of so many small arrays, and of so many names."""
    return b"".join(
        [
            struct.pack("<QQQ", FILE_MAGIC, 0, arrays),
            SMALL * arrays,
            struct.pack("<Q", names),
            *(struct.pack("<Q4s", 4, b"%04d" % number) for number in range(names)),
        ]
    )


@pytest.mark.parametrize(
    "arrays, names, message",
    [
        (500, 500, "it announces 500 arrays, expected at most 4[0-9]"),
        (5, 500, "another number of names than of its 5 arrays"),
        (5, 5, "does not fit the bundle's config: expected embedding.weight"),
    ],
)
def test_more_arrays_than_the_network_has_are_refused_before_they_are_made(arrays, names, message):
    with pytest.raises(BundleError, match=message):
        read_gluon_file(file_of(arrays, names), preset("default").network(10), "x")


@pytest.mark.parametrize("kind", ["float16", "float32"])
@pytest.mark.parametrize("number", [0.0, -0.0, 65504.0, -65504.0, 1e-7, numpy.inf, -numpy.inf, numpy.nan, -numpy.nan])
def test_numbers_are_finite_by_their_bits_as_by_numpy(kind, number):
    table = numpy.ones((3, 2), dtype=kind)
    table[1, 1] = number
    assert all_finite(table) == numpy.isfinite(number)
