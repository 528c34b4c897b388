"""Classifiers that travel to other processes."""

import pickle
import shutil
import subprocess
import sys

import pytest

from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.errors import BundleError

TEXTS = ["정말 재미있는 영화였어요", "배우는 좋은데 영화는 별로", " "]
COPY = """
import pickle, sys
texts, *classifiers = pickle.load(sys.stdin.buffer)
pickle.dump([each.predict_many(texts) for each in classifiers], sys.stdout.buffer)
"""


def test_copies_in_another_process_predict_the_same(bundle_folder):
    classifiers = [load_classifier(), load_classifier(bundle_folder, "onnx")]
    content = pickle.dumps([TEXTS, *classifiers])
    done = subprocess.run([sys.executable, "-c", COPY], input=content, capture_output=True, check=True)
    assert pickle.loads(done.stdout) == [each.predict_many(TEXTS) for each in classifiers]


def test_a_folder_that_stays_is_referred_to_and_another_bundle_in_it_is_refused(
    bundle_folder, post_run_folder, tmp_path
):
    shutil.copytree(bundle_folder, tmp_path / "bundle")
    content = pickle.dumps(load_classifier(tmp_path / "bundle"))
    assert len(content) < 1000
    assert pickle.loads(content).bundle.folder == (tmp_path / "bundle").resolve()
    shutil.rmtree(tmp_path / "bundle")
    shutil.copytree(post_run_folder / "bundle", tmp_path / "bundle")
    with pytest.raises(BundleError, match="expected the bundle that was loaded at first, found another, "):
        pickle.loads(content)


def test_the_packaged_bundle_is_found_wherever_the_package_is():
    classifier = load_classifier()
    content = pickle.dumps(classifier)
    assert b"nsmc_attention/pretrained" not in content and len(content) < 1000
    assert pickle.loads(content).bundle.packaged
    found = repr(load_classifier(engine="onnx"))
    assert found == "Classifier(bundle='pretrained', engine='onnx', labels=('negative', 'positive'))"
