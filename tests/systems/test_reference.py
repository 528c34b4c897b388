"""What the predictors of all tasks share: they are loaded by their task, pickled, and refuse what is not theirs."""

import pickle

import pytest

from nsmc_attention import FilmRater, LanguageModel, Restorer, load, load_film, load_language_model, load_restorer
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
