"""Types that stand in many signatures, by names."""

from typing import Any

from numpy.typing import NDArray

# Of any type of numbers; where one is promised, the docstring or a comment says it
Numbers = NDArray[Any]
# Values of several types by their names: settings, figures, what becomes JSON
Record = dict[str, Any]
