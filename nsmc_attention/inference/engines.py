"""The network behind one call, by MXNet or by ONNX Runtime.

    engine(token_ids (N, T) int32, valid_length (N,) int32) -> probability (N,), weights (N, T, T)

Knows nothing of text. Only the gluon engine imports MXNet, and only when it is built.
"""
import numpy

from ..processes import cores
from ..errors import BundleError, ConfigError, MissingPackage, did_you_mean


class OnnxEngine:
    """Runs the bundle's model.onnx; safe to call from several threads."""

    name = "onnx"

    def __init__(self, bundle, device="auto", threads=None):
        path = bundle.file("model.onnx")
        try:
            import onnxruntime
        except ImportError as problem:
            raise MissingPackage(f"the onnx engine needs onnxruntime ({problem}): pip install onnxruntime, "
                                 "or use --engine gluon") from problem
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or cores()
        options.log_severity_level = 3
        try:
            self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as problem:  # onnxruntime raises classes of its own, all of them Exception alone
            raise BundleError(f"{path}: ONNX Runtime cannot load it: {str(problem).splitlines()[0][:200]}") from problem
        expected = (["token_ids", "valid_length"], ["probability", "weights"])
        found = ([item.name for item in self.session.get_inputs()], [item.name for item in self.session.get_outputs()])
        if not set(found[0]) <= set(expected[0]) or found[1] != expected[1]:
            raise BundleError(f"{path}: expected inputs and outputs {expected}, found {found}; "
                              "is it another model?")
        self.inputs = found[0]

    def __call__(self, token_ids, valid_length):
        given = {"token_ids": token_ids, "valid_length": valid_length}
        return tuple(self.session.run(["probability", "weights"], {name: given[name] for name in self.inputs}))


class GluonEngine:
    """Runs the HybridBlock with the bundle's weights.params; call it from one thread (MXNet is not thread-safe)."""

    name = "gluon"

    def __init__(self, bundle, device="auto", threads=None):
        from ..mxnet_shim import import_mxnet

        mxnet = import_mxnet()
        from ..model.classifier import build_network, choose_device
        from ..model.parameters import load_gluon_file

        self.mxnet, self.device = mxnet, choose_device(device)
        self.network = build_network(len(bundle.encoder), bundle.config)
        path = bundle.file("weights.params")
        try:
            load_gluon_file(self.network, path, self.device)
        except (mxnet.MXNetError, AssertionError, ValueError) as problem:
            raise BundleError(f"{path}: does not fit the bundle's config: {str(problem).splitlines()[0][:200]}") \
                from problem
        self.network.hybridize(static_alloc=True)

    def __call__(self, token_ids, valid_length):
        nd = self.mxnet.nd
        logits, weights = self.network(nd.array(token_ids, ctx=self.device, dtype="int32"),
                                       nd.array(valid_length, ctx=self.device, dtype="float32"))
        return logits.softmax()[:, 1].asnumpy(), weights.asnumpy()


ENGINES = {"onnx": OnnxEngine, "gluon": GluonEngine}


def load_engine(bundle, name="auto", device="auto", threads=None):
    """Build the engine called name; "auto" is onnx where the bundle has a model.onnx, else gluon."""
    if name == "auto":
        name = "onnx" if "model.onnx" in bundle.manifest["files"] and device != "gpu" else "gluon"
    if name not in ENGINES:
        raise ConfigError(f"unknown engine {name!r}{did_you_mean(name, [*ENGINES, 'auto'])}")
    return ENGINES[name](bundle, device, threads)


def pad_batch(id_lists, padding, fixed_length=None):
    """Stack id lists to token_ids (N, T) int32 and valid_length (N,) int32; T is the longest or fixed_length."""
    valid_length = numpy.array([len(ids) for ids in id_lists], dtype="int32")
    width = fixed_length or int(valid_length.max())
    token_ids = numpy.full((len(id_lists), width), padding, dtype="int32")
    # boolean indexing fills row by row in order, which is the order of the joined lists
    inside = numpy.arange(width) < valid_length[:, None]
    token_ids[inside] = numpy.concatenate([numpy.asarray(ids, dtype="int32") for ids in id_lists])
    return token_ids, valid_length
