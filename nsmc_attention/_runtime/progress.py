"""Progress bars on stderr: text in a terminal, widgets in a notebook."""

import sys
import warnings
from typing import Any, Iterable, Optional


def progress_bar(items: Optional[Iterable[Any]] = None, shown: Optional[bool] = None, **options: Any) -> Any:
    """Return tqdm's bar over items, with tqdm's options; shown (None) in a terminal or a notebook, not in a log."""
    with warnings.catch_warnings():
        # without ipywidgets a notebook shows text
        warnings.filterwarnings("ignore", message="IProgress not found")
        from tqdm.auto import tqdm
    # tqdm's None: whether the stream is a terminal, which that of a notebook is not
    disable = (False if in_notebook() else None) if shown is None else not shown
    return tqdm(items, file=sys.stderr, disable=disable, mininterval=0.5, **options)


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    shell = sys.modules.get("IPython")
    return shell is not None and "IPKernelApp" in getattr(shell.get_ipython(), "config", {})
