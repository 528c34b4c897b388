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
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from nsmc_attention.bundle import load_bundle
from nsmc_attention.inference.engines import OnnxEngine
from nsmc_attention.inference.predictor import Classifier
from nsmc_attention.metrics import metrics
from nsmc_attention.reviews import nsmc

ROUNDS, TIMED = 5, 20000


def embedding(model):
    return next(each for each in model.graph.initializer if each.name == "embedding")


def float16(model):
    return model


def float32(model):
    table = embedding(model)
    table.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(table).astype("float32"), "embedding"))
    return model


def int8_embedding(model):
    """One scale a row; a row is gathered, cast and multiplied by its scale."""
    table = embedding(model)
    rows = numpy_helper.to_array(table).astype("float32")
    scale = abs(rows).max(axis=1, keepdims=True).clip(1e-8) / 127
    table.CopyFrom(numpy_helper.from_array(numpy.rint(rows / scale).astype("int8"), "embedding"))
    model.graph.initializer.append(numpy_helper.from_array(scale.astype("float32"), "embedding_scale"))
    place, cast = next((place, node) for place, node in enumerate(model.graph.node) if node.op_type == "Cast")
    gather = model.graph.node[place - 1]
    assert gather.op_type == "Gather" and cast.input[0] == gather.output[0]
    result = cast.output[0]
    cast.output[0] = "embedded_steps"
    cast.attribute[0].i = TensorProto.FLOAT
    model.graph.node.insert(place + 1, helper.make_node("Gather", ["embedding_scale", gather.input[1]], ["steps"]))
    model.graph.node.insert(place + 2, helper.make_node("Mul", ["embedded_steps", "steps"], [result]))
    return model


def dynamic(model):
    """ONNX Runtime's dynamic quantization of the Dense layers; it has none for a GRU."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "source.onnx", Path(folder) / "target.onnx"
        onnx.save(model, source)
        quantize_dynamic(source, target, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul", "Gemm"])
        return onnx.load(target)


FORMS = {"float32": float32, "float16 embedding (shipped)": float16, "int8 embedding": int8_embedding,
         "float16 embedding, Dense layers int8": dynamic, "int8 embedding, Dense layers int8":
         lambda model: dynamic(int8_embedding(model))}


def main():
    bundle = load_bundle()
    reviews = nsmc.load("nsmc", "test")
    ids = [bundle.encoder.encode(text).token_ids for text in reviews.documents]
    contents = {name: change(onnx.load(bundle.file("model.onnx"))).SerializeToString()
                for name, change in FORMS.items()}
    classifiers = {name: Classifier(bundle, OnnxEngine(content)) for name, content in contents.items()}
    rates = {name: [] for name in FORMS}
    for _ in range(ROUNDS):
        for name, classifier in classifiers.items():
            started = time.perf_counter()
            deque(classifier.run(ids[:TIMED]), maxlen=0)
            rates[name].append(TIMED / (time.perf_counter() - started))
    print(f"{len(reviews):,} reviews of the NSMC test file; network alone, {TIMED:,} reviews, {ROUNDS} rounds in turn")
    print("\n| form | MB | reviews/s: min / median / max | accuracy | log loss |\n|---|---|---|---|---|")
    for name, classifier in classifiers.items():
        probability = numpy.full(len(ids), 0.5)
        for members, found, _ in classifier.run(ids):
            probability[members] = found
        found = metrics(reviews.labels, probability)
        three = " / ".join(f"{pick(rates[name]):,.0f}" for pick in (min, statistics.median, max))
        print(f"| {name} | {len(contents[name]) / 1e6:.2f} | {three} | {100 * found['accuracy']:.3f} | "
              f"{found['log_loss']:.4f} |", flush=True)


if __name__ == "__main__":
    main()
