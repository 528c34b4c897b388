# What type checkers see of __init__.py, whose names are imported on first use; tests/test_types.py compares the two.
from .config import Config as Config
from .config import preset as preset
from .errors import NsmcError as NsmcError
from .estimator import SentimentEstimator as SentimentEstimator
from .inference.attribution import Attribution as Attribution
from .inference.columns import restore_column as restore_column
from .inference.columns import score_column as score_column
from .inference.explain import explain as explain
from .inference.film import FilmRater as FilmRater
from .inference.film import Rating as Rating
from .inference.film import film as film
from .inference.film import load_film as load_film
from .inference.language import Candidate as Candidate
from .inference.language import Filling as Filling
from .inference.language import LanguageModel as LanguageModel
from .inference.language import fill as fill
from .inference.language import load_language_model as load_language_model
from .inference.loading import load as load
from .inference.prediction import Prediction as Prediction
from .inference.predictor import Classifier as Classifier
from .inference.predictor import load_classifier as load_classifier
from .inference.predictor import predict as predict
from .inference.restorer import Restoration as Restoration
from .inference.restorer import Restorer as Restorer
from .inference.restorer import load_restorer as load_restorer
from .inference.restorer import restore as restore
from .judgement import evaluate as evaluate
from .recipe import train as train
from .visualization.heatmap import draw_heatmap as draw_heatmap
from .visualization.heatmap import save_heatmap as save_heatmap
from .visualization.pictures import save_attributions as save_attributions
from .visualization.pictures import save_heads as save_heads

EXPORTS: dict[str, str]
__version__: str
__all__: list[str]
