# What type checkers see of __init__.py, whose names are imported on first use; tests/test_types.py compares the two.
from .apps.aspects.aspects import Aspect as Aspect
from .apps.aspects.aspects import aspects as aspects
from .classification.adapt import adapt as adapt
from .classification.attribution import Attribution as Attribution
from .classification.columns import score_column as score_column
from .classification.estimator import SentimentEstimator as SentimentEstimator
from .classification.evaluation import evaluate as evaluate
from .classification.evaluation import faithfulness as faithfulness
from .classification.evaluation import hops as hops
from .classification.explain import explain as explain
from .classification.prediction import Prediction as Prediction
from .classification.predictor import Classifier as Classifier
from .classification.predictor import load_classifier as load_classifier
from .classification.predictor import predict as predict
from .classification.settings import Config as Config
from .classification.settings import preset as preset
from .classification.share import positive_share as positive_share
from .classification.train import train as train
from .errors import NsmcError as NsmcError
from .evaluation.share import Share as Share
from .registry import load as load
from .reviews.corpus import Reviews as Reviews
from .reviews.tables import load_reviews as load_reviews
from .systems.films.rater import FilmRater as FilmRater
from .systems.films.rater import film as film
from .systems.films.rater import load_film as load_film
from .systems.films.rating import Rating as Rating
from .systems.language.model import Candidate as Candidate
from .systems.language.model import Filling as Filling
from .systems.language.model import LanguageModel as LanguageModel
from .systems.language.model import fill as fill
from .systems.language.model import load_language_model as load_language_model
from .systems.reading.pictures import save_reading as save_reading
from .systems.reading.reader import PictureReader as PictureReader
from .systems.reading.reader import load_reader as load_reader
from .systems.reading.reader import read as read
from .systems.reading.reading import Line as Line
from .systems.reading.reading import Reading as Reading
from .systems.restoration.columns import restore_column as restore_column
from .systems.restoration.pictures import save_restoration as save_restoration
from .systems.restoration.restoration import Restoration as Restoration
from .systems.restoration.restorer import Restorer as Restorer
from .systems.restoration.restorer import load_restorer as load_restorer
from .systems.restoration.restorer import restore as restore
from .visualization.heatmap import draw_heatmap as draw_heatmap
from .visualization.heatmap import save_heatmap as save_heatmap
from .visualization.pictures import save_attributions as save_attributions
from .visualization.pictures import save_heads as save_heads

EXPORTS: dict[str, str]
__version__: str
__all__: list[str]
