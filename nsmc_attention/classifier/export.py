"""Export of a bundle: an ONNX model, compared with Gluon's network before it is written, or Gluon's parameter file.

Both need MXNet; the written ONNX model does not.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional, Union

import numpy

from ..bundle import PARAMETERS, load_bundle, read_contents, write_bundle
from ..corpora import nsmc
from ..engines.graphs import OnnxGraph, gluon_network
from ..engines.onnx.graph import lower, with_parameters_in
from ..errors import BundleError, ConfigError
from ..machine.aliases import Record
from ..machine.files import replaced_file
from ..machine.processes import cores
from ..text.encoding import ReviewEncoder
from .engines import GraphEngine, load_engine
from .settings import LAYOUT, ClassifierBundle, Config

# The engines round in different orders: differences exceed 1e-5 if attention scores are in the hundreds. Above this limit,
# rounding would decide what the attention shows
LARGEST_DIFFERENCE = 1e-4
PARITY_TEXTS = 1000


def export_bundle(
    folder: Union[str, Path, None], output: Optional[Union[str, Path]] = None, kind: str = "onnx"
) -> Record:
    """Write a bundle as an ONNX model; return output, bytes and the figures of `parity` on 1,000 raw texts.

    Output None, or the bundle's own model.onnx, writes the model and its parity figures into the bundle. The kind
    "params" writes Gluon's parameter file, as `network.load_parameters` reads it, without figures.

    Raises
    ------
    BundleError
        The ONNX model differs from Gluon by more than LARGEST_DIFFERENCE; nothing is written.
    ConfigError, DataError
        The output is stdout, or its folder is missing or cannot be written to.
    """
    bundle = load_bundle(folder, LAYOUT)
    default_output = bundle.folder / "model.onnx"
    output = default_output if output is None else Path(output)
    if str(output) == "-":
        raise ConfigError("--output -: expected a file, found stdout; name a file, as model.onnx")
    if kind == "onnx" and output.resolve() == default_output.resolve():
        model, figures = verified_model(bundle)
        content = with_parameters_in(PARAMETERS, model, bundle.read(PARAMETERS))
        contents = {**read_contents(bundle), "model.onnx": content}
        write_bundle(bundle.folder, {**bundle.manifest, "parity": figures}, contents)
        return {"output": str(default_output), "bytes": len(content), **figures}
    # opened first, so that an output that cannot be written is reported at once
    with replaced_file(output) as temporary:
        if kind == "params":
            gluon_network(bundle, "cpu")[0].save_parameters(str(temporary))
            figures = {}
        else:
            content, figures = verified_model(bundle)
            temporary.write_bytes(content)
    return {"output": str(output), "bytes": output.stat().st_size, **figures}


def verified_model(bundle: ClassifierBundle) -> tuple[bytes, Record]:
    """Return the serialized ONNX model and the figures of `parity`; BundleError if they are too large."""
    gluon: Any = load_engine(bundle, "gluon", "cpu")
    content = lower(gluon.graph.block, bundle.config.graphs)["model.onnx"]
    figures = parity(gluon, content, bundle.codec, bundle.config, parity_texts())
    if problem := disagreement(figures):
        raise BundleError(f"{bundle.folder}: expected the ONNX model to be Gluon's network: {problem}")
    return content, figures


def parity_texts() -> list[str]:
    """Return PARITY_TEXTS raw texts: the sample's, then pairs of them joined, which are longer."""
    texts = [text for part in ("train", "test") for text in nsmc.load("sample", part).documents]
    return (texts + [" ".join(pair) for pair in zip(texts, texts[1:])])[:PARITY_TEXTS]


def parity(gluon: GraphEngine, content: bytes, encoder: ReviewEncoder, config: Config, texts: Sequence[str]) -> Record:
    """Compare an engine on MXNet with a serialized ONNX model on raw texts.

    Return reviews, the number compared (not blank), and the largest probability_difference and weights_difference.
    """
    onnx = GraphEngine(OnnxGraph(content, config.graphs["model.onnx"], threads=cores()))
    reviews = list(filter(len, encoder.encode_many(texts[:PARITY_TEXTS])))
    batches = [encoder.batch(reviews[at : at + 64], config.fixed_length) for at in range(0, len(reviews), 64)]
    pairs = [zip(gluon(*batch), onnx(*batch)) for batch in batches]
    largest = numpy.max([[abs(ours - theirs).max() for ours, theirs in pair] for pair in pairs], axis=0).tolist()
    return {"reviews": len(reviews), "probability_difference": largest[0], "weights_difference": largest[1]}


def disagreement(figures: Record) -> Optional[str]:
    """Return a message if the figures of `parity` have a difference that is too large or not a number, else None."""
    if numpy.max([figures["probability_difference"], figures["weights_difference"]]) <= LARGEST_DIFFERENCE:
        return None
    listed = ", ".join(f"{name} {value:.3g}" for name, value in figures.items())
    return f"{listed}; expected at most {LARGEST_DIFFERENCE}: the network's parameters may be too large, train again"
