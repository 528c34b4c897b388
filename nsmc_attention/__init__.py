"""Sentiment classification of Korean movie reviews, with attention weights to look at.

>>> from nsmc_attention import predict
>>> predict("정말 재미있는 영화였어요").label
'positive'

Public names are imported on first use; type checkers read them from `__init__.pyi`.
"""

from .version import __version__

EXPORTS = {
    "predict": "classification.predictor",
    "load_classifier": "classification.predictor",
    "Classifier": "classification.predictor",
    "Prediction": "classification.prediction",
    "restore": "restoration.restorer",
    "load_restorer": "restoration.restorer",
    "load": "tasks",
    "Restorer": "restoration.restorer",
    "Restoration": "restoration.restoration",
    "fill": "language.model",
    "load_language_model": "language.model",
    "LanguageModel": "language.model",
    "Candidate": "language.model",
    "Filling": "language.model",
    "film": "films.rater",
    "load_film": "films.rater",
    "FilmRater": "films.rater",
    "Rating": "films.rater",
    "score_column": "classification.columns",
    "restore_column": "classification.columns",
    "Config": "classification.settings",
    "preset": "classification.settings",
    "train": "classification.train",
    "Reviews": "reviews.corpus",
    "load_reviews": "reviews.tables",
    "evaluate": "classification.judgement",
    "faithfulness": "classification.judgement",
    "hops": "classification.judgement",
    "explain": "classification.explain",
    "SentimentEstimator": "classification.estimator",
    "Attribution": "classification.attribution",
    "draw_heatmap": "visualization.heatmap",
    "save_heatmap": "visualization.heatmap",
    "save_attributions": "visualization.pictures",
    "save_heads": "visualization.pictures",
    "save_restoration": "visualization.pictures",
    "NsmcError": "errors",
}
__all__ = [*EXPORTS, "__version__"]


def __getattr__(name: str) -> object:
    """Import a public name on first use (PEP 562)."""
    if name not in EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{EXPORTS[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
