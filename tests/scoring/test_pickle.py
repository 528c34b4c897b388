"""Classifiers that travel to other processes."""

import pickle
import subprocess
import sys

from nsmc_attention.classifier.predictor import load_classifier

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


def test_a_folder_that_stays_is_referred_to(bundle_folder):
    content = pickle.dumps(load_classifier(bundle_folder))
    assert len(content) < 1000 and pickle.loads(content).bundle.folder == bundle_folder.resolve()


def test_the_packaged_bundle_is_found_wherever_the_package_is():
    classifier = load_classifier()
    content = pickle.dumps(classifier)
    assert b"nsmc_attention/pretrained" not in content and len(content) < 1000
    assert pickle.loads(content).bundle.packaged
    found = repr(load_classifier(engine="onnx"))
    assert found == "Classifier(bundle='pretrained', engine='onnx', labels=('negative', 'positive'))"
