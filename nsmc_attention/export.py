"""A bundle's function written for ONNX Runtime, with the proof that it is the same function.

Reads the Gluon parameters, so it needs MXNet; what it writes does not.
"""

from pathlib import Path

import numpy

from ._io.atomic import replaced_file
from .bundle.format import load_bundle, read_contents, write_bundle
from .errors import BundleError, ConfigError
from .inference.engines import OnnxEngine, load_engine
from .model.onnx.lowering import lower
from .reviews import nsmc

PARITY, PARITY_TEXTS = 1e-5, 1000


def export_bundle(folder, output=None):
    """Write a bundle's function as an ONNX model, after comparing it with Gluon on 1,000 raw texts.

    Parameters
    ----------
    folder : path
    output : path or None
        Where to; None, or the bundle's own model.onnx, puts it and its parity figure into the bundle itself.

    Returns
    -------
    dict
        output, bytes, and the figures of `parity`.

    Raises
    ------
    BundleError
        A difference above 1e-5; nothing is written.
    ConfigError
        The output is stdout, or a file that would be foreign to the bundle.
    DataError
        The output's folder is not there or cannot be written to.
    """
    bundle = load_bundle(folder)
    if is_own_model(bundle, output):
        content, found = proved(bundle)
        write_bundle(
            bundle.folder, {**bundle.manifest, "parity": found}, {**read_contents(bundle), "model.onnx": content}
        )
        output = bundle.folder / "model.onnx"
    else:
        # opened before the work, so that a place that cannot be written to is told at once
        with replaced_file(output) as temporary:
            content, found = proved(bundle)
            temporary.write_bytes(content)
    return {"output": str(output), "bytes": len(content), **found}


def is_own_model(bundle, output):
    """Tell whether an output is the bundle's own model.onnx; ConfigError where no model can be written there."""
    if output is None:
        return True
    if str(output) == "-":
        raise ConfigError(
            "--output -: expected a file, found stdout; a model is not for a terminal, name a file as model.onnx"
        )
    place = Path(output).resolve()
    if place.parent != bundle.folder.resolve():
        return False
    if place.name != "model.onnx":
        raise ConfigError(
            f"--output {output}: expected a place outside the bundle, which does not load with a foreign "
            "file in it; leave --output out to write its own model.onnx, or name another folder"
        )
    return True


def proved(bundle):
    """Answer the bundle's function, serialized, and the figures of `parity`; BundleError where these exceed PARITY."""
    gluon = load_engine(bundle, "gluon", "cpu")
    content = lower(gluon.network).SerializeToString()
    found = parity(gluon, content, bundle.encoder, bundle.config, own_texts())
    if exceeds(found):
        raise BundleError(f"{bundle.folder}: expected ONNX and Gluon to agree to {PARITY}, found {found}; report this")
    return content, found


def own_texts():
    """Answer PARITY_TEXTS raw texts: the sample's, then neighbours joined, which are longer."""
    texts = [text for part in ("train", "test") for text in nsmc.load("sample", part).documents]
    return (texts + [f"{one} {other}" for one, other in zip(texts, texts[1:])])[:PARITY_TEXTS]


def parity(gluon, content, encoder, config, texts):
    """Compare a GluonEngine with a serialized ONNX model on raw texts.

    Returns
    -------
    dict
        reviews (compared: those that are not blank), probability_difference and weights_difference (largest).
    """
    onnx_engine = OnnxEngine(content)
    token_lists = [tokens for tokens in (encoder.encode(text).tokens for text in texts[:PARITY_TEXTS]) if tokens]
    differences = numpy.zeros(2)
    fixed = config.fixed_length
    for start in range(0, len(token_lists), 64):
        batch = encoder.batch(token_lists[start : start + 64], fixed)
        gaps = [abs(one - other).max() for one, other in zip(gluon(*batch), onnx_engine(*batch))]
        differences = numpy.maximum(differences, gaps)
    return {
        "reviews": len(token_lists),
        "probability_difference": float(differences[0]),
        "weights_difference": float(differences[1]),
    }


def exceeds(found):
    """Tell whether the figures of `parity` are worse than PARITY, which rounding does not explain, or no numbers."""
    return not numpy.max([found["probability_difference"], found["weights_difference"]]) <= PARITY
