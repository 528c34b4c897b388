"""`nsmc-attention read`: what it prints, and wrong inputs in one line."""

import json

import numpy
import pytest
from PIL import Image

from nsmc_attention import load_reader


@pytest.fixture(scope="module")
def blank(tmp_path_factory):
    path = tmp_path_factory.mktemp("pictures") / "blank.png"
    Image.fromarray(numpy.full((40, 60), 250, "uint8")).save(path)
    return path


def test_lines_of_a_picture_from_a_file_and_from_stdin(command, tiny_reader, tmp_path):
    path = tmp_path / "캡처.png"
    pixels = numpy.full((60, 200), 255, "uint8")
    pixels[20:40, 20:180:12] = 0
    Image.fromarray(pixels).save(path)
    lines = load_reader(tiny_reader)(path).lines
    given = ("--bundle", tiny_reader, "--format", "jsonl", "--weights")
    done = command("read", path, *given)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["text"] for row in rows] == [line.text for line in lines]
    for row, line in zip(rows, lines):
        assert numpy.allclose(row["weights"], line.weights, atol=1e-3)


def test_a_picture_without_text_prints_nothing_and_says_so(command, tiny_reader, blank):
    done = command("read", blank, "--bundle", tiny_reader)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"{blank}: no line of text found\n"


WRONG = {
    "read missing.png": "missing.png: cannot be read",
    "read setup.cfg": "expected a picture (PNG, JPEG, GIF, WEBP, BMP, TIFF), found another file",
    "read {blank} --explain x.txt": "unknown suffix '.txt'",
    "read {blank} {blank} --explain x.png": "expected one PICTURE, found 2",
    "read {blank} --bundle {bundle_folder}": "expected a bundle of the task read",
    "read {blank} --bundle {tiny_reader} --explain x.png": "expected lines of text to draw",
    "read {blank} --bundle {tiny_reader} --weights": "--weights needs --format jsonl",
    "predict 정말 --bundle {tiny_reader}": "use it with `nsmc-attention read`",
}


@pytest.mark.parametrize("line, expected", WRONG.items(), ids=WRONG)
def test_wrong_inputs_are_one_line(command, request, tmp_path, line, expected, tiny_reader, bundle_folder, blank):
    named = {"blank": blank, "bundle_folder": bundle_folder, "tiny_reader": tiny_reader}
    done = command(*(word.format(**named) for word in line.split()))
    assert done.returncode == 2 and done.stderr.count("error:") == 1
    assert expected in done.stderr and len(done.stderr.strip().splitlines()) <= 2
