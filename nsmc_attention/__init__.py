"""Sentiment classification of Korean movie reviews, with attention weights to look at.

>>> from nsmc_attention import predict
>>> predict("정말 재미있는 영화였어요").label
'positive'

Public names are imported on first use; type checkers read them from `__init__.pyi`.
"""

from .version import __version__

EXPORTS = {
    "predict": "inference.predictor",
    "load_classifier": "inference.predictor",
    "Classifier": "inference.predictor",
    "Prediction": "inference.prediction",
    "restore": "inference.restorer",
    "load_restorer": "inference.restorer",
    "load": "inference.loading",
    "Restorer": "inference.restorer",
    "Restoration": "inference.restorer",
    "fill": "inference.language",
    "load_language_model": "inference.language",
    "LanguageModel": "inference.language",
    "Candidate": "inference.language",
    "Filling": "inference.language",
    "film": "inference.film",
    "load_film": "inference.film",
    "FilmRater": "inference.film",
    "Rating": "inference.film",
    "score_column": "inference.columns",
    "restore_column": "inference.columns",
    "Config": "config",
    "preset": "config",
    "train": "recipe",
    "evaluate": "judgement",
    "explain": "inference.explain",
    "SentimentEstimator": "estimator",
    "Attribution": "inference.attribution",
    "draw_heatmap": "visualization.heatmap",
    "save_heatmap": "visualization.heatmap",
    "save_attributions": "visualization.pictures",
    "save_heads": "visualization.pictures",
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
    return sorted([*globals(), *__all__])
