"""What the predictors of all tasks share: they are loaded by their task, pickled, and refuse what is not theirs."""

import pickle
import subprocess
import sys

import pytest

from nsmc_attention import FilmRater, LanguageModel, Restorer, load, load_film, load_language_model, load_restorer
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.errors import BundleError, ConfigError, DataError

# {a fixture, its bundle: (class, its own function that loads, what it makes of texts)}
PREDICTORS = {
    "tiny_editor": (Restorer, load_restorer, lambda predictor: predictor.rows(["배우들연기가 정말조앗는데", ""])),
    "tiny_language": (LanguageModel, load_language_model, lambda predictor: predictor("정말 [MASK]").candidates),
    "tiny_film": (FilmRater, load_film, lambda predictor: predictor(["정말 재미있다", "지루하다"]).to_dict()),
}


@pytest.fixture(params=PREDICTORS)
def bundle(request):
    return request.getfixturevalue(request.param), *PREDICTORS[request.param]


def test_a_predictor_is_loaded_by_its_task_and_pickled(bundle):
    folder, kind, own_load, use = bundle
    predictor = load(folder)
    assert type(predictor) is kind and repr(predictor).startswith(f"{kind.__name__}(bundle='tiny_")
    copy = pickle.loads(pickle.dumps(predictor))
    assert use(copy) == use(predictor) == use(own_load(folder)) and copy.options == predictor.options


def test_a_classifiers_bundle_and_an_unknown_engine_are_refused(bundle, bundle_folder):
    folder, kind, own_load, _ = bundle
    task = kind.layout.task
    with pytest.raises(BundleError, match=f"expected a bundle of the task {task}, found 'classify'"):
        own_load(bundle_folder)
    with pytest.raises(ConfigError, match="unknown engine 'torch'"):
        own_load(folder, engine="torch")


@pytest.mark.parametrize("texts", ["정말", b"x", [3]])
@pytest.mark.parametrize("use", ["Restorer.restore_many", "FilmRater.__call__", "Classifier.predict_many"])
def test_one_string_is_no_list_of_texts(request, use, texts):
    kind, _, name = use.partition(".")
    fixture = {"Restorer": "tiny_editor", "FilmRater": "tiny_film", "Classifier": "bundle_folder"}[kind]
    predictor = load(request.getfixturevalue(fixture))
    message = "expected a (list of (texts|reviews), found one string|review as str, found int)"
    with pytest.raises(DataError, match=message):
        getattr(predictor, name)(texts)


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
