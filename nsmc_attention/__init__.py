"""Sentiment classification of Korean movie reviews, with attention weights to look at.

>>> from nsmc_attention import predict
>>> predict("정말 재미있는 영화였어요").label
'positive'

Public names are imported on first use, and nothing before it; type checkers read them from `__init__.pyi`.
"""

# {module: its public names}, of the core
MODULES = {
    "classifier.predictor": "predict load_classifier Classifier",
    "classifier.prediction": "Prediction",
    "registry": "load",
    "classifier.columns": "score_column",
    "classifier.positive_share": "positive_share",
    "measure.share": "Share",
    "classifier.settings": "Config preset",
    "classifier.train": "train",
    "classifier.adapt": "adapt",
    "corpora.corpus": "Reviews",
    "corpora.labelled": "load_reviews",
    "classifier.evaluation": "evaluate faithfulness hops",
    "classifier.explain": "explain",
    "classifier.estimator": "SentimentEstimator",
    "classifier.attribution": "Attribution",
    "views.heatmap": "draw_heatmap save_heatmap",
    "views.pictures": "save_attributions save_heads",
    "errors": "NsmcError",
    "version": "__version__",
}


def exports() -> dict[str, str]:
    """Return {public name: its module}, of the core and of the wings."""
    from .registry import public_names

    return {name: module for module, names in MODULES.items() for name in names.split()} | public_names()


def __getattr__(name: str) -> object:
    """Import a public name on first use (PEP 562)."""
    if name == "__all__":
        return __dir__()
    if name not in exports():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{exports()[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(exports())
