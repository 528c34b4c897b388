"""A network's parameters as plain arrays by structural name, and back; and as Gluon's parameter file."""
import tempfile
from pathlib import Path

# Tables of embeddings, most of a model's size: half precision costs no accuracy and halves the files
EMBEDDINGS = ("embedding.weight", "embed.weight")


def snapshot(network):
    """Answer {name: array} of the network's parameters."""
    return {name: parameter.data().asnumpy() for name, parameter in network._collect_params_with_prefix().items()}


def restore(network, arrays):
    """Put arrays from `snapshot` back into the network."""
    for name, parameter in network._collect_params_with_prefix().items():
        parameter.set_data(arrays[name])


def halve_embeddings(network):
    """Round the embeddings to what half precision can hold, so that every file of a bundle holds the same numbers."""
    for name, parameter in network._collect_params_with_prefix().items():
        if name in EMBEDDINGS:
            parameter.set_data(parameter.data().astype("float16").astype("float32"))


def gluon_file(network):
    """Answer the bytes of a Gluon parameter file, embeddings in half precision; see `halve_embeddings`."""
    from mxnet import nd

    arrays = {name: nd.array(array, dtype="float16" if name in EMBEDDINGS else "float32")
              for name, array in snapshot(network).items()}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "weights.params"
        nd.save(str(path), arrays)
        return path.read_bytes()


def load_gluon_file(network, path, device):
    """Load a file of `gluon_file` into a network, all parameters in single precision."""
    network.load_parameters(str(path), ctx=device, cast_dtype=True, dtype_source="current")
