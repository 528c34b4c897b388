"""What the tests share: a tiny real model trained on the sample, and the official files where there are any."""

import os
from pathlib import Path

# Before any OpenMP is loaded, for this process and those that tests start: threads that spin while they wait slow a
# busy machine down many times over, and the tests' models are too small to gain by it
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# For the tests that import onnxruntime themselves; the package has its own way
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

import pytest

from nsmc_attention.config import preset

TINY = preset("default").with_fields(
    embedding_size=8,
    hidden_size=8,
    attention_units=4,
    ngram_buckets=500,
    epochs=3,
    batch_size=32,
    learning_rate=0.02,
    checkpoint_steps=5,
    dev_fraction=0.1,
    erasure_reviews=100,
)


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory):
    """Keep prepared data of the tests out of the user's cache."""
    os.environ["NSMC_ATTENTION_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def tiny():
    return TINY


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory):
    """A run on the sample, trained once for all tests; read it, do not change it."""
    from nsmc_attention.recipe import train

    out = tmp_path_factory.mktemp("runs") / "tiny"
    train("sample", TINY, out, quiet=True)
    return out


@pytest.fixture(scope="session")
def post_run_folder(tmp_path_factory):
    from nsmc_attention.recipe import train

    out = tmp_path_factory.mktemp("runs") / "post"
    config = preset("post").with_fields(embedding_size=8, hidden_size=4, epochs=1, max_length=12)
    train("sample", config, out, quiet=True)
    return out


@pytest.fixture(scope="session")
def bundle_folder(run_folder):
    return run_folder / "bundle"


@pytest.fixture(scope="session")
def nsmc_folder():
    folder = os.environ.get("NSMC_ATTENTION_DATA")
    if not folder or not (Path(folder) / "ratings_train.txt").is_file():
        pytest.skip("needs the official files: set NSMC_ATTENTION_DATA to their folder")
    return Path(folder)
