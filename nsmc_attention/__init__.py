"""Sentiment classification of Korean movie reviews, with attention weights to look at.

>>> from nsmc_attention import predict
>>> predict("정말 재미있는 영화였어요").label
'positive'

Public names are imported on first use; type checkers read them from `__init__.pyi`.
"""

from .version import __version__

# {module: its public names}
MODULES = {
    "classification.predictor": "predict load_classifier Classifier",
    "classification.prediction": "Prediction",
    "systems.restoration.restorer": "restore load_restorer Restorer",
    "registry": "load",
    "systems.restoration.restoration": "Restoration",
    "systems.reading.reader": "read load_reader PictureReader",
    "systems.reading.reading": "Reading Line",
    "systems.language.model": "fill load_language_model LanguageModel Candidate Filling",
    "systems.films.rater": "film load_film FilmRater",
    "systems.films.rating": "Rating",
    "classification.columns": "score_column restore_column",
    "classification.share": "positive_share",
    "evaluation.share": "Share",
    "classification.settings": "Config preset",
    "classification.train": "train",
    "classification.adapt": "adapt",
    "reviews.corpus": "Reviews",
    "reviews.tables": "load_reviews",
    "classification.evaluation": "evaluate faithfulness hops",
    "classification.explain": "explain",
    "classification.estimator": "SentimentEstimator",
    "classification.attribution": "Attribution",
    "visualization.heatmap": "draw_heatmap save_heatmap",
    "visualization.pictures": "save_attributions save_heads save_restoration save_reading",
    "errors": "NsmcError",
}
EXPORTS = {name: module for module, names in MODULES.items() for name in names.split()}
__all__ = [*EXPORTS, "__version__"]


def __getattr__(name: str) -> object:
    """Import a public name on first use (PEP 562)."""
    if name not in EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{EXPORTS[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
