# The public names for type checkers, as __init__.py imports them on first use; tests/test_types.py compares both files.
from .apps.aspects.aspects import Aspect as Aspect
from .apps.aspects.aspects import aspects as aspects
from .apps.columns import score_column as score_column
from .apps.evaluation import evaluate as evaluate
from .apps.evaluation import faithfulness as faithfulness
from .apps.evaluation import hops as hops
from .classifier.adapt import adapt as adapt
from .classifier.attribution import Attribution as Attribution
from .classifier.explain import explain as explain
from .classifier.positive_share import positive_share as positive_share
from .classifier.prediction import Prediction as Prediction
from .classifier.predictor import Classifier as Classifier
from .classifier.predictor import load_classifier as load_classifier
from .classifier.predictor import predict as predict
from .classifier.settings import Config as Config
from .classifier.settings import preset as preset
from .classifier.train import train as train
from .corpora.labelled import load_reviews as load_reviews
from .corpora.nsmc import Reviews as Reviews
from .errors import NsmcError as NsmcError
from .measure.share import Share as Share
from .registry import load as load
from .systems.film.rater import FilmRater as FilmRater
from .systems.film.rater import film as film
from .systems.film.rater import load_film as load_film
from .systems.film.rating import Rating as Rating
from .systems.language.model import Candidate as Candidate
from .systems.language.model import Filling as Filling
from .systems.language.model import LanguageModel as LanguageModel
from .systems.language.model import fill as fill
from .systems.language.model import load_language_model as load_language_model
from .systems.read.pictures import save_reading as save_reading
from .systems.read.reader import PictureReader as PictureReader
from .systems.read.reader import load_reader as load_reader
from .systems.read.reader import read as read
from .systems.read.reading import Line as Line
from .systems.read.reading import Reading as Reading
from .systems.restore.restoration import Restoration as Restoration
from .systems.restore.restoration import save_restoration as save_restoration
from .systems.restore.restorer import Restorer as Restorer
from .systems.restore.restorer import load_restorer as load_restorer
from .systems.restore.restorer import restore as restore
from .systems.restore.restorer import restore_column as restore_column
from .version import __version__ as __version__
from .views.heatmap import draw_heatmap as draw_heatmap
from .views.heatmap import save_heatmap as save_heatmap
from .views.page import save_attributions as save_attributions
from .views.page import save_heads as save_heads

__all__: list[str]

EXPORTS: dict[str, str]
