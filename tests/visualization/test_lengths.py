import numpy
import pytest

from nsmc_attention.errors import DataError
from nsmc_attention.visualization.lengths import by_bin, save_lengths

PAIRS = [(1, 0.5), (10, 0.3), (11, 0.2), (12, 0.2), (25, 0.9), (999, 1.0)]


def test_a_bin_includes_its_last_length_and_has_the_mean_of_its_errors():
    found = dict(by_bin(PAIRS, (10, 20, 30)))
    assert sorted(found) == [0, 1], "of one text there is no interval"
    assert found[0]["mean"] == pytest.approx(0.4) and found[1]["mean"] == pytest.approx(0.2)
    assert found[0]["low"] < 0.4 < found[0]["high"] and found[1]["low"] == found[1]["high"] == pytest.approx(0.2)


def test_every_restorer_is_drawn_even_one_without_texts(tmp_path):
    errors = [(int(length), length / 200) for length in numpy.linspace(1, 140, 60)]
    save_lengths({"editor": errors, "어텐션 없이": PAIRS, "nothing": []}, tmp_path / "a.png", "not exact")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("records", [{}, {"editor": []}])
def test_no_text_is_no_picture(tmp_path, records):
    with pytest.raises(DataError, match="at least one text, found none"):
        save_lengths(records, tmp_path / "a.png")
    assert not list(tmp_path.iterdir())
