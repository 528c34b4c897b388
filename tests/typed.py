"""What type checkers see of the public names: read by mypy and pyright, never run (test_types.py)."""

from pathlib import Path

from typing_extensions import assert_type

from nsmc_attention import Classifier, Config, Prediction, __version__, load_classifier, predict, preset

assert_type(__version__, str)
assert_type(preset("default"), Config)
assert_type(load_classifier(), Classifier)
assert_type(load_classifier(Path("runs/first/bundle"), engine="onnx"), Classifier)
assert_type(predict("정말 재미있는 영화"), Prediction)
