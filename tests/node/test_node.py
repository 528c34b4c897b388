"""The packaged bundle read by another language: what its README.md says is enough to get the same answers."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.corpora import nsmc

# npm fetches the packages
pytestmark = pytest.mark.system
HERE = Path(__file__).parent
STRANGE = "😀😀 최고 😀|★★☆☆☆ 별로|4/5|10점 만점에 3점|a|ㅋㅋㅋㅋㅋㅋ|가가가 가가가|뷁뷁 쀍".split("|")
STRANGE += ["constructor toString"]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    if not shutil.which("npm"):
        pytest.skip("needs Node.js and npm")
    folder = tmp_path_factory.mktemp("node")
    for name in ("predict.mjs", "package.json"):
        shutil.copy(HERE / name, folder)
    command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"npm could not install onnxruntime-web: {done.stderr.splitlines()[-1:]}")
    return folder / "predict.mjs"


def tokens_of(encoder, text):
    """The tokens of a text, each symbol as a pair of itself and its entry of the vocabulary."""
    review, names = encoder.encode(text), {index: token for token, index in encoder.token_to_idx.items()}
    pairs = zip(review.tokens, (names[index] for index in review.ids))
    return [token if token == name or name == "<unk>" else [token, name] for token, name in pairs]


def test_node_answers_as_python_does(program):
    texts = nsmc.load("sample", "test").documents + STRANGE
    classifier = load_classifier()
    expected = classifier.predict_many(texts)
    given = "".join(json.dumps(tokens_of(classifier.encoder, text)) + "\n" for text in texts)
    command = ["node", str(program), str(classifier.bundle.folder)]
    done = subprocess.run(command, input=given, capture_output=True, text=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(expected), done.stderr
    for one, other in zip(found, expected):
        assert other.label in (None, one["label"]) and one["probability"] == pytest.approx(other.probability, abs=1e-4)
        assert one["token_weights"] == pytest.approx(other.token_weights.tolist(), abs=1e-4)
