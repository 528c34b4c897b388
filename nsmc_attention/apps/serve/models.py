"""The classifier behind a server, loaded after the start, and how it runs."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Optional

from starlette.exceptions import HTTPException

from ...classification.explain import Explainer
from ...classification.prediction import Row
from ...classification.predictor import Classifier
from .batching import Batcher, cost_of, one_by_one
from .guard import Limits
from .plug import BundlePath
from .questions import Question, explanation_json, weights_json

LOG = logging.getLogger("uvicorn.error")


class Bundles:
    """The bundles of a server and its engine; None is the packaged bundle, where there is one.

    `others`, as restore_bundle=DIR, are those of systems, by their names.
    """

    def __init__(self, bundle: BundlePath = None, engine: str = "auto", **others: BundlePath) -> None:
        self.bundle, self.engine = bundle, engine
        self.others = {name.removesuffix("_bundle"): other for name, other in others.items() if other}


class Models:
    """The classifier and its explainer, each called in one thread over all that has arrived since its last call."""

    explainer: Optional[Explainer] = None
    classifier: Classifier
    labels: Batcher[str, Row]
    weighted: Batcher[tuple[str, Optional[int]], str]
    explanations: Batcher[Question, str]
    mxnet: ThreadPoolExecutor

    def __init__(self, bundles: Bundles, limits: Limits) -> None:
        self.bundles, self.limits = bundles, limits
        self.thread = ThreadPoolExecutor(1)

    async def load(self) -> Explainer:
        """Load the classifier; requests are answered when `explainer` is set, after all other models."""
        run = asyncio.get_running_loop().run_in_executor
        self.classifier = classifier = await run(self.thread, Classifier.load, self.bundles.bundle, self.bundles.engine)
        # the first review builds the tokenizer
        await run(self.thread, classifier.predict, "영화")
        # MXNet must be called from one thread; beside another engine only explanations call it, in one thread of theirs
        only = self.thread if classifier.engine.name == "gluon" else None
        self.mxnet = only or ThreadPoolExecutor(1)
        explainer = Explainer(classifier)
        self.labels = Batcher(classifier.rows, self.thread, cost_of)
        self.weighted = Batcher(
            lambda items: [
                weights_json(prediction, top_k)
                for prediction, (_, top_k) in zip(classifier.predict_many([text for text, _ in items]), items)
            ],
            self.thread,
            lambda item: cost_of(item[0]),
        )
        self.explanations = one_by_one(partial(explanation_json, explainer), self.mxnet, self.limits.explanations)
        return explainer

    def thread_of(self, model: Any) -> ThreadPoolExecutor:
        return self.mxnet if model.engine.name == "gluon" else ThreadPoolExecutor(1)

    def require(self) -> Explainer:
        """Return the explainer, which has the classifier, once all is loaded."""
        if self.explainer is None:
            raise HTTPException(503, "the model is still being loaded; try again in a second")
        return self.explainer
