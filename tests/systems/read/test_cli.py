"""`nsmc-attention read`: what it prints."""

import json

import numpy
from PIL import Image

from nsmc_attention import load_reader


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


def test_a_picture_without_text_prints_nothing_and_says_so(command, tiny_reader, tmp_path):
    blank = tmp_path / "blank.png"
    Image.new("L", (60, 40), 250).save(blank)
    done = command("read", blank, "--bundle", tiny_reader)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"{blank}: no line of text found\n"
    done = command("read", blank, "--bundle", tiny_reader, "--explain", tmp_path / "x.png")
    assert done.returncode == 2 and "expected lines of text to draw" in done.stderr
