"""Progress bars on stderr: text in a terminal, widgets in a notebook."""

import sys
import warnings
from typing import Any, Iterable, Optional


def progress_bar(items: Optional[Iterable[Any]] = None, shown: Optional[bool] = None, **options: Any) -> Any:
    """Return tqdm's bar over items, with tqdm's options; shown (None) in a terminal or a notebook, not in a log."""
    notebook = in_notebook()
    # tqdm's None: whether the stream is a terminal, which that of a notebook is not
    disable = (False if notebook else None) if shown is None else not shown
    return bars(notebook)(items, file=sys.stderr, disable=disable, mininterval=0.5, **options)


def bars(notebook: bool) -> Any:
    """Return tqdm's class of bars; tqdm.auto imports asyncio too, 15 ms that a terminal need not wait."""
    if not notebook:
        from tqdm import tqdm

        return tqdm
    with warnings.catch_warnings():
        # without ipywidgets a notebook shows text
        warnings.filterwarnings("ignore", message="IProgress not found")
        from tqdm.auto import tqdm as widgets
    return widgets


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    shell = sys.modules.get("IPython")
    return shell is not None and "IPKernelApp" in getattr(shell.get_ipython(), "config", {})
