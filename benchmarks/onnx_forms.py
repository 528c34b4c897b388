"""What the packaged model loses and gains in smaller number formats: size, speed, accuracy on the official test file.

NSMC_ATTENTION_DATA=... python benchmarks/onnx_forms.py
"""

import statistics
import tempfile
import time
from collections import deque
from pathlib import Path

import numpy
import onnx
from onnx import numpy_helper

from nsmc_attention.bundle.format import load_bundle
from nsmc_attention.evaluation.metrics import metrics
from nsmc_attention.inference.engines import OnnxEngine, import_onnxruntime
from nsmc_attention.inference.predictor import Classifier
from nsmc_attention.reviews import nsmc

import_onnxruntime()
from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: E402

ROUNDS, TIMED = 5, 20000


def shipped(model):
    return model


def wider(model, dtype):
    """The same embeddings as floating-point numbers instead of bytes with a scale a row."""
    table = next(each for each in model.graph.initializer if each.data_type == onnx.TensorProto.INT8)
    scales = next(each for each in model.graph.initializer if each.dims[:] == [table.dims[0], 1])
    whole, scale = numpy_helper.to_array(table), numpy_helper.to_array(scales)
    rows = (whole.astype("float32") * scale.astype("float32")).astype(dtype)
    table.CopyFrom(numpy_helper.from_array(rows, table.name))
    scales.CopyFrom(numpy_helper.from_array(numpy.ones_like(scale), scales.name))
    return model


def float32_table(model):
    """The table of n-grams in single precision."""
    table = next(each for each in model.graph.initializer if each.name.startswith("ngram_table"))
    table.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(table).astype("float32"), table.name))
    return model


def dynamic(model):
    """ONNX Runtime's dynamic quantization of the Dense layers; it has none for a GRU."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "source.onnx", Path(folder) / "target.onnx"
        onnx.save(model, source)
        quantize_dynamic(source, target, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul", "Gemm"])
        return onnx.load(target)


FORMS = {
    "embedding int8, n-grams float16 (shipped)": shipped,
    "embedding float16": lambda model: wider(model, "float16"),
    "all float32": lambda model: float32_table(wider(model, "float32")),
    "as shipped, Dense layers int8": dynamic,
}


def main():
    bundle = load_bundle()
    reviews = nsmc.load("nsmc", "test")
    token_lists = [bundle.encoder.encode(text).tokens for text in reviews.documents]
    contents = {
        name: change(onnx.load(bundle.file("model.onnx"))).SerializeToString() for name, change in FORMS.items()
    }
    classifiers = {name: Classifier(bundle, OnnxEngine(content)) for name, content in contents.items()}
    rates = {name: [] for name in FORMS}
    for _ in range(ROUNDS):
        for name, classifier in classifiers.items():
            started = time.perf_counter()
            deque(classifier.score.run(token_lists[:TIMED]), maxlen=0)
            rates[name].append(TIMED / (time.perf_counter() - started))
    print(
        f"{len(reviews):,} reviews of the NSMC test file; numbering and network timed on {TIMED:,}, "
        f"{ROUNDS} rounds in turn"
    )
    print("\n| form | MB | reviews/s: min / median / max | accuracy | log loss |\n|---|---|---|---|---|")
    for name, classifier in classifiers.items():
        found = metrics(reviews.labels, numpy.nan_to_num(classifier.score(token_lists), nan=0.5))
        three = " / ".join(f"{pick(rates[name]):,.0f}" for pick in (min, statistics.median, max))
        print(
            f"| {name} | {len(contents[name]) / 1e6:.2f} | {three} | {100 * found['accuracy']:.3f} | "
            f"{found['log_loss']:.4f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
