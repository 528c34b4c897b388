"""The models behind a server: those that it was given or the packaged ones, loaded after the start, and how they run."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Callable, Generic, Optional, TypeVar, Union

from starlette.exceptions import HTTPException

from ...classification.explain import Explainer
from ...classification.prediction import Row
from ...classification.predictor import Classifier
from ...errors import NsmcError
from ...inference.engines import companion_engine
from ...systems.films.rater import FilmRater, rater_of
from ...systems.language.model import LanguageModel
from ...systems.language.system import LAYOUT as LANGUAGE_MODEL
from ...systems.reading.reader import PictureReader
from ...systems.reading.service import Pictures
from ...systems.reading.system import READER
from ...systems.restoration.restorer import Restorer
from ...systems.restoration.system import EDITOR, WRITER
from .batching import Batcher, cost_of, one_by_one
from .guard import Limits
from .questions import Blank, Question, explanation_json, filling_json, restoration_json, weights_json

BundlePath = Optional[Union[str, Path]]
ModelT = TypeVar("ModelT", bound=Any)
# Blanks that may wait; what a batch of texts to restore costs, some tenths of a second
BLANKS, RESTORED = 512, 4096
LOG = logging.getLogger("uvicorn.error")


@dataclass(frozen=True)
class Bundles:
    """The bundles of a server and its engine; None is the packaged bundle, where there is one."""

    bundle: BundlePath = None
    engine: str = "auto"
    restore_bundle: BundlePath = None
    language_bundle: BundlePath = None
    film_bundle: BundlePath = None
    read_bundle: BundlePath = None


@dataclass
class ModelService(Generic[ModelT]):
    """A model beside the classifier; requests for it get a 404 that names its flag where there is none.

    `loader` makes it of a bundle's folder and the name of an engine.
    """

    request: str
    name: str
    description: str
    bundle: BundlePath = None
    loader: Optional[Callable[[Any, str], ModelT]] = None
    model: Optional[ModelT] = None

    async def load(self, engine: str, thread: ThreadPoolExecutor) -> Optional[ModelT]:
        """Load the bundle in a thread, once."""
        if self.loader and self.bundle and not self.model:
            self.model = await asyncio.get_running_loop().run_in_executor(thread, self.loader, self.bundle, engine)
            LOG.info("%s: bundle %s, engine %s", self.description, self.model.bundle.name, self.model.engine.name)
        return self.model

    def require(self) -> ModelT:
        if not self.model:
            start = f"start it as `nsmc-attention serve --{self.name}-bundle DIR`"
            raise HTTPException(404, f"{self.request}: this server has no {self.description}; {start}")
        return self.model


def present(folder: Path) -> Optional[Path]:
    return folder if folder.is_dir() else None


class Models:
    """The models of a server, each called in one thread over all that has arrived since its last call."""

    explainer: Optional[Explainer] = None
    labels: Batcher[str, Row]
    weighted: Batcher[tuple[str, Optional[int]], str]
    explanations: Batcher[Question, str]
    restorations: Batcher[str, str]
    alignments: Batcher[str, str]
    fillings: Batcher[Blank, str]
    pictures: Pictures
    table_threads: ThreadPoolExecutor

    def __init__(self, bundles: Bundles, limits: Limits) -> None:
        self.bundles, self.limits = bundles, limits
        restorer, language = bundles.restore_bundle, bundles.language_bundle
        self.restorer: ModelService[Restorer] = ModelService(
            "restore", "restore", "restorer", restorer or present(EDITOR), Restorer.load
        )
        self.writer: ModelService[Restorer] = ModelService(
            "weights", "restore", "writer, whose attention they would be", present(WRITER), load_writer
        )
        self.language: ModelService[LanguageModel] = ModelService(
            "fill", "language", "language model", language or present(LANGUAGE_MODEL.packaged[0]), LanguageModel.load
        )
        self.reader: ModelService[PictureReader] = ModelService(
            "read", "read", "reader of pictures", bundles.read_bundle or present(READER), PictureReader.load
        )
        self.rater: ModelService[FilmRater] = ModelService("film", "film", "film network for its classifier")

    async def load(self) -> None:
        """Load all models; requests that need them are refused until the end."""
        run, engine, own = asyncio.get_running_loop().run_in_executor, self.bundles.engine, ThreadPoolExecutor(1)
        classifier = await run(own, Classifier.load, self.bundles.bundle, engine)
        # the first review builds the tokenizer
        await run(own, classifier.predict, "영화")
        # MXNet must be called from one thread; beside another engine only explanations call it, in one thread of theirs
        only = own if classifier.engine.name == "gluon" else None
        self.mxnet = only or ThreadPoolExecutor(1)
        self.table_threads = only or ThreadPoolExecutor(self.limits.tables)
        explainer = Explainer(classifier)
        self.labels = Batcher(classifier.rows, own, cost_of)
        self.weighted = Batcher(
            lambda items: [
                weights_json(prediction, top_k)
                for prediction, (_, top_k) in zip(classifier.predict_many([text for text, _ in items]), items)
            ],
            own,
            lambda item: cost_of(item[0]),
        )
        self.explanations = one_by_one(partial(explanation_json, explainer), self.mxnet, self.limits.explanations)
        beside = companion_engine(engine)
        restorer = await self.restorer.load(beside, self.mxnet)
        if restorer:
            thread = self.thread_of(restorer)
            self.restorations = Batcher(
                lambda texts: [*map(restoration_json, restorer.restore_many(texts))], thread, cost_of, RESTORED
            )
            self.alignments = one_by_one(self.align, thread, self.limits.explanations)
            if restorer.attends:
                self.writer.model = restorer
        model = await self.language.load(beside, self.mxnet)
        if model:
            self.fillings = one_by_one(partial(filling_json, model), self.thread_of(model), BLANKS)
        reader = await self.reader.load(beside, self.mxnet)
        if reader:
            self.pictures = Pictures(reader, self.thread_of(reader), self.limits)
        # it reads the classifier's vectors
        self.rater.model = await run(own, rater_of, classifier.bundle, self.bundles.film_bundle)
        self.explainer = explainer
        LOG.info("ready: bundle %s, engine %s", classifier.bundle.name, classifier.engine.name)

    def thread_of(self, model: Any) -> ThreadPoolExecutor:
        return self.mxnet if model.engine.name == "gluon" else ThreadPoolExecutor(1)

    def align(self, text: str) -> str:
        return restoration_json(self.writer.require()(text), weights=True)

    def require(self) -> Explainer:
        """Return the explainer, which has the classifier, once all is loaded."""
        if self.explainer is None:
            raise HTTPException(503, "the model is still being loaded; try again in a second")
        return self.explainer


def load_writer(bundle: Path, engine: str) -> Restorer:
    """Load the packaged writer, at the first request for its attention."""
    try:
        return Restorer.load(bundle, engine)
    except NsmcError as problem:
        # no fault of the request, and its message names a folder of this machine
        raise RuntimeError("the packaged writer cannot be loaded") from problem
