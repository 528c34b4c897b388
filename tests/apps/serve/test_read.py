"""Screenshots sent to /read: what is answered, and what is refused in one line."""

import re

import pytest

from nsmc_attention.apps.serve.read import MEDIA_TYPES, MOST_BYTES
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.systems.read.reader import load_reader


@pytest.mark.parametrize("query", [{}, {"predict": False}, {"weights": True}])
def test_the_answer_is_what_the_reader_and_the_classifier_say(client, ask, screenshot, query):
    def count(name):
        return float(re.search(rf"^nsmc_attention_{name}_total (\S+)$", client.get("/metrics").text, re.M)[1])

    expected = load_reader()(screenshot).to_dict(query.get("weights", False))
    before = count("read"), count("reviews")
    done = ask(client, "/read", screenshot, "image/png", **query)
    answer = done.json()
    assert (count("read"), count("reviews")) == (before[0] + 1, before[1] + 2 * query.get("predict", True))
    assert done.status_code == 200 and len(answer["lines"]) == 2
    assert (answer["width"], answer["height"]) == (expected["width"], expected["height"])
    labels = load_classifier().predict_many([line["text"] for line in answer["lines"]])
    for line, other, label in zip(answer["lines"], expected["lines"], labels):
        if query.get("predict", True):
            assert line.pop("label") == label.label and line.pop("score") == pytest.approx(label.score, abs=1e-6)
            assert line.pop("sentiment") == label.sentiment
            assert line.pop("stars") == pytest.approx(label.stars, abs=1e-4)
        assert line.pop("letter_probability") == pytest.approx(other.pop("score"), rel=1e-4)
        assert line.pop("box") == [int(side) for side in other.pop("box")]
        if "weights" in query:
            assert len(line["weights"]) == len(line["text"]) and len(line["edges"]) == len(line["weights"][0]) + 1
        assert line == other


def test_the_content_decides_of_which_type_a_picture_is_and_without_text_it_has_no_lines(client, ask, draw):
    done = ask(client, "/read", draw("영화", kind="JPEG"), "image/png; charset=binary", predict=False)
    assert done.status_code == 200 and done.json()["lines"]
    assert ask(client, "/read", draw(), "image/png").json() == {"width": 60, "height": 60, "lines": [], "left_out": []}


@pytest.mark.parametrize(
    "body, kind, status, message",
    [
        (b"", "image/png", 422, "picture: expected a picture (PNG, JPEG, GIF, WEBP, BMP, TIFF), found another file"),
        (lambda draw: draw("영화")[:200], "image/png", 422, "found a damaged one"),
        (b"\0" * (MOST_BYTES + 1), "image/png", 413, f"body: expected at most {MOST_BYTES} bytes"),
        # each letter of a long line is read from a thousand strips
        (
            lambda draw: draw("영화 " * 150),
            "image/png",
            422,
            "weights: expected at most 524288 of all lines, found more",
        ),
    ],
)
def test_what_cannot_be_read_is_one_line_that_says_so(client, ask, draw, body, kind, status, message):
    done = ask(client, "/read", body(draw) if callable(body) else body, kind, weights=True)
    assert done.status_code == status and set(done.json()) == {"error"}
    assert message in done.json()["error"] and not re.search(r"Traceback|/tmp|BytesIO", done.text)


def test_the_reference_lists_the_types(client):
    described = client.get("/openapi.json").json()["paths"]["/read"]["post"]
    assert tuple(described["requestBody"]["content"]) == MEDIA_TYPES and "404" in described["responses"]
    assert [each["name"] for each in described["parameters"]] == ["predict", "weights"]
