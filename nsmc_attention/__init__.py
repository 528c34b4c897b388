"""Sentiment classification of Korean movie reviews with interpretable attention weights.

>>> from nsmc_attention import predict
>>> predict("정말 재미있는 영화였어요").label
'positive'

Public names are imported on first use only; type checkers read them from `__init__.pyi`.
"""

# {module: its public names}
MODULES = {
    "classifier.predictor": "predict load_classifier Classifier",
    "classifier.prediction": "Prediction",
    "registry": "load",
    "apps.columns": "score_column",
    "classifier.positive_share": "positive_share",
    "measure.share": "Share",
    "classifier.settings": "Config preset",
    "classifier.train": "train",
    "classifier.adapt": "adapt",
    "corpora.nsmc": "Reviews",
    "corpora.labelled": "load_reviews",
    "apps.evaluation": "evaluate faithfulness hops",
    "classifier.explain": "explain",
    "classifier.attribution": "Attribution",
    "views.heatmap": "draw_heatmap save_heatmap",
    "views.page": "save_attributions save_heads",
    "systems.restore.restorer": "restore load_restorer Restorer restore_column",
    "systems.restore.restoration": "Restoration save_restoration",
    "systems.language.model": "fill load_language_model LanguageModel Candidate Filling",
    "systems.film.rater": "film load_film FilmRater",
    "systems.film.rating": "Rating",
    "systems.read.reader": "read load_reader PictureReader",
    "systems.read.reading": "Reading Line",
    "systems.read.pictures": "save_reading",
    "apps.aspects.aspects": "aspects Aspect",
    "errors": "NsmcError",
    "version": "__version__",
}
EXPORTS = {name: module for module, names in MODULES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Import a public name on first use (PEP 562)."""
    if name == "__all__":
        return __dir__()
    if name not in EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{EXPORTS[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(EXPORTS)
