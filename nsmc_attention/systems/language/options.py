"""What `train` takes for a language model."""

from ...cli.options import Beginning as TrainOptions

__all__ = ["TrainOptions"]
