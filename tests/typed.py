"""What type checkers see of the public names: read by mypy, one of whose files it is, never run.

An ignored line is an error that they must find: where they find none, the comment is unused, which is an error too.
"""

from pathlib import Path

from typing_extensions import assert_type

from nsmc_attention import (
    Classifier,
    Config,
    Prediction,
    Reviews,
    Share,
    __version__,
    evaluate,
    explain,
    load,
    load_classifier,
    load_restorer,
    load_reviews,
    positive_share,
    predict,
    preset,
)

assert_type(__version__, str)
assert_type(preset("default"), Config)
assert_type(load_classifier(), Classifier)
assert_type(load_classifier(Path("runs/first/bundle"), engine="onnx"), Classifier)
assert_type(predict("정말 재미있는 영화"), Prediction)
assert_type(load_reviews("sample"), Reviews)
assert_type(positive_share(["좋다", "별로"]), Share)
load_classifier()("좋다")
evaluate(load_classifier(), load_reviews("sample"))
explain("좋다", load_classifier(), "erasure")

load(engine="cuda")  # type: ignore[arg-type]
load_classifier(engine="cuda")  # type: ignore[arg-type]
load_classifier(device="cuda")  # type: ignore[arg-type]
load_restorer(engine="cuda")  # type: ignore[arg-type]
explain("좋다", load_classifier(), method="lime")  # type: ignore[arg-type]
preset("defualt")  # type: ignore[arg-type]
evaluate(load_classifier(), "reviews.csv")  # type: ignore[arg-type]
