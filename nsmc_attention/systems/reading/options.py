"""What `train` takes for a reader of pictures."""

from ...cli.options import Beginning as TrainOptions

__all__ = ["TrainOptions"]
