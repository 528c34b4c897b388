"""The contestants: each is built from a Workload (untimed) and then called without arguments (timed).

Each runs in a process of its own, so that the threads of one library do not slow another down.
"""

from dataclasses import dataclass
from functools import partial

import numpy

from nsmc_attention.classifier.settings import ClassifierConfig, TrainingConfig
from nsmc_attention.errors import MissingPackage
from nsmc_attention.machine.processes import cores

MATRIX = 2048


@dataclass(frozen=True)
class Workload:
    """The input of all contestants of a comparison.

    Attributes
    ----------
    batches : list of (token_ids (N, T) int32, valid_length (N,) float32, labels (N,) float32)
        Each of one exact length, so that no contestant computes padding.
    documents : list of str
        The same reviews as tokens joined by spaces, for the contestant that counts words.
    vocabulary : int
        Rows of the embedding.
    """

    batches: list
    documents: list
    vocabulary: int
    model: ClassifierConfig
    training: TrainingConfig

    @property
    def reviews(self):
        return sum(len(labels) for _, _, labels in self.batches)

    @property
    def flop(self):
        """Floating-point operations of one forward pass over the batches, matrix products alone."""
        return sum(len(token_ids) * review_flop(token_ids.shape[1], self.model) for token_ids, _, _ in self.batches)


def review_flop(length, model):
    """Return the matrix products' operations for one review of `length` tokens: GRU, query and key, score, pooling."""
    width, hidden, units = model.width, model.width // 2, model.attention.numbers_per_pair
    gru = 2 * 2 * length * 3 * hidden * (model.embedding_size + hidden)
    attention = 2 * 2 * length * width * units + 2 * length**2 * units
    return gru + attention + 2 * length**2 + 2 * length * width


def network(workload):
    from nsmc_attention.machine.mxnet_shim import import_mxnet

    mxnet = import_mxnet()
    from nsmc_attention.classifier.network import SelfAttentionClassifier

    built = SelfAttentionClassifier(workload.vocabulary, workload.model, max_length=1024)
    built.initialize(mxnet.init.Xavier())
    # with all sizes known, as in a training
    built(mxnet.nd.ones((1, 1), dtype="int32"), mxnet.nd.ones((1,)))
    built.hybridize(static_alloc=True)
    return mxnet, built


def lowered(workload):
    """The content of the classifier's ONNX graph, and what it takes and returns."""
    from nsmc_attention.engines.onnx.graph import lower
    from nsmc_attention.network.graphs import Interface, classified, review_inputs

    interface = Interface(review_inputs(False), workload.model.outputs, classified)
    (content,) = lower(network(workload)[1], {"model.onnx": interface}).values()
    return content, interface


class GluonTraining:
    """The training step of this package; where not `native`, by MXNet's own operators alone."""

    def __init__(self, workload, native=True):
        from nsmc_attention.classifier.batches import Batch
        from nsmc_attention.classifier.stages import LabelsObjective
        from nsmc_attention.network import operators
        from nsmc_attention.training.loop import make_trainer, train_step

        if not native:
            operators.LIBRARY = None
        self.mxnet, self.network = network(workload)
        self.batches = [Batch(ids, lengths, labels, None) for ids, lengths, labels in workload.batches]
        self.step = partial(
            train_step,
            self.network,
            make_trainer(self.network, workload.training.labels.learning_rate),
            LabelsObjective(None, self.mxnet.cpu()),
            clip_norm=workload.training.clip_norm,
        )

    def __call__(self):
        for batch in self.batches:
            self.step(batch=batch)


class GluonScoring:
    """The HybridBlock on MXNet."""

    def __init__(self, workload):
        self.mxnet, self.network = network(workload)
        self.batches = workload.batches

    def __call__(self):
        nd = self.mxnet.nd
        for token_ids, valid_length, _ in self.batches:
            logits, weights = self.network(nd.array(token_ids, dtype="int32"), nd.array(valid_length))
            logits.softmax().asnumpy()
            weights.asnumpy()


class OnnxScoring:
    """The exported model on ONNX Runtime."""

    def __init__(self, workload):
        from nsmc_attention.engines.graphs import OnnxGraph

        content, interface = lowered(workload)
        self.engine = OnnxGraph(content, interface, threads=cores())
        self.batches = [(token_ids, valid_length.astype("int32")) for token_ids, valid_length, _ in workload.batches]

    def __call__(self):
        for token_ids, valid_length in self.batches:
            self.engine(token_ids, valid_length)


class NativeScoring:
    """The same parameters in the native engine called `name`."""

    def __init__(self, workload, name):
        from nsmc_attention.classifier.engines import NativeEngine, kernel_arrays
        from nsmc_attention.native.kernels import import_network, kernel_name
        from nsmc_attention.network.parameters import all_stored

        mxnet, built = network(workload)
        built(mxnet.nd.ones((1, 1), dtype="int32"), mxnet.nd.ones((1,)))
        model = workload.model
        given = kernel_arrays(all_stored(built), model.encoder.hidden_size)
        from nsmc_attention.engines.graphs import PRECISIONS

        loaded = import_network().load(kernel=kernel_name(PRECISIONS[name]), **given)
        self.engine = NativeEngine(loaded, name)
        self.batches = [(token_ids, valid_length.astype("int32")) for token_ids, valid_length, _ in workload.batches]

    def __call__(self):
        for token_ids, valid_length in self.batches:
            self.engine(token_ids, valid_length)


class OpenvinoScoring:
    """The exported model on OpenVINO."""

    def __init__(self, workload):
        try:
            import openvino
        except ImportError as problem:
            raise MissingPackage(f"OpenVINO did not import ({problem}): pip install openvino") from problem
        core, (model, _) = openvino.Core(), lowered(workload)
        settings = {"INFERENCE_NUM_THREADS": cores(), "INFERENCE_PRECISION_HINT": "f32"}
        self.model = core.compile_model(core.read_model(model), "CPU", settings)
        self.batches = [(token_ids, valid_length.astype("int32")) for token_ids, valid_length, _ in workload.batches]

    def __call__(self):
        for arrays in self.batches:
            self.model(arrays)


class AverageScoring:
    """The mean of the tokens' embeddings and a linear layer, by numpy: the network of fastText (Joulin et al. 2017)."""

    def __init__(self, workload):
        random, width = numpy.random.RandomState(0), workload.model.embedding_size
        self.embedding = random.rand(workload.vocabulary, width).astype("float32")
        self.output = random.rand(width).astype("float32")
        self.batches = [token_ids for token_ids, _, _ in workload.batches]

    def __call__(self):
        for token_ids in self.batches:
            logits = self.embedding[token_ids].mean(axis=1) @ self.output
            1 / (1 + numpy.exp(-logits))


class TfidfTraining:
    """scikit-learn's TF-IDF of 1- and 2-grams with logistic regression, the plainest way to a classifier."""

    def __init__(self, workload):
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        self.documents = workload.documents
        self.labels = numpy.concatenate([labels for _, _, labels in workload.batches])
        counted = TfidfVectorizer(
            tokenizer=str.split, token_pattern=None, lowercase=False, ngram_range=(1, 2), sublinear_tf=True, min_df=2
        )
        self.pipeline = make_pipeline(counted, LogisticRegression(C=5, solver="liblinear"))

    def __call__(self):
        self.pipeline.fit(self.documents, self.labels)


class TfidfScoring(TfidfTraining):
    """Its predictions."""

    def __init__(self, workload):
        super().__init__(workload)
        self.pipeline.fit(self.documents, self.labels)

    def __call__(self):
        self.pipeline.predict_proba(self.documents)


class Sgemm:
    """A large product of single-precision matrices by numpy: what the cores can do."""

    flop = 2 * MATRIX**3

    def __init__(self, workload):
        self.matrix = numpy.random.RandomState(0).rand(MATRIX, MATRIX).astype("float32")

    def __call__(self):
        self.matrix @ self.matrix


def torch_contestant(name, **settings):
    def build(workload):
        try:
            from . import pytorch
        except ImportError as problem:
            raise MissingPackage(
                f"PyTorch did not import ({problem}): pip install 'nsmc_attention[benchmark]'"
            ) from problem
        return getattr(pytorch, name)(workload, **settings)

    return build


CONTESTANTS = {
    "nsmc_attention, training": GluonTraining,
    "nsmc_attention, training without native operators": partial(GluonTraining, native=False),
    "nsmc_attention, onnx": OnnxScoring,
    "nsmc_attention, gluon": GluonScoring,
    "nsmc_attention, native": partial(NativeScoring, name="native"),
    "nsmc_attention, native-bf16": partial(NativeScoring, name="native-bf16"),
    "PyTorch eager, sparse Adam": torch_contestant("TorchTraining"),
    "PyTorch eager, dense Adam": torch_contestant("TorchTraining", sparse=False),
    "PyTorch compiled, training": torch_contestant("TorchTraining", compiled=True, sparse=False),
    "PyTorch eager": torch_contestant("TorchScoring"),
    "PyTorch compiled": torch_contestant("TorchScoring", compiled=True),
    "OpenVINO": OpenvinoScoring,
    "average of embeddings": AverageScoring,
    "TF-IDF + logistic regression, training": TfidfTraining,
    "TF-IDF + logistic regression": TfidfScoring,
    "sgemm": Sgemm,
}
