"""Progress bars on stderr: text in a terminal, widgets in a notebook."""

import sys
import warnings
from importlib.util import find_spec
from typing import Any, Iterable, Iterator, Optional, TextIO

from .messages import word


def progress_bar(items: Optional[Iterable[Any]] = None, shown: Optional[bool] = None, **options: Any) -> Any:
    """Return tqdm's bar over items, with tqdm's options; `shown` None shows it in a terminal or notebook, not in a log.

    Without tqdm no bar is shown.
    """
    notebook = in_notebook()
    # a notebook's stderr is not a terminal
    if not (shown or shown is None and (notebook or sys.stderr.isatty())) or find_spec("tqdm") is None:
        return HiddenBar(items)
    options.update((name, word(options[name])) for name in ("desc", "unit") if name in options)
    from tqdm import tqdm

    if notebook:
        with warnings.catch_warnings():
            # without ipywidgets a notebook shows text; tqdm.auto imports asyncio, 15 ms that a terminal need not wait
            warnings.filterwarnings("ignore", message="IProgress not found")
            from tqdm.auto import tqdm
    return tqdm(items, file=sys.stderr, mininterval=0.5, **options)


class HiddenBar:
    """A hidden bar without tqdm, whose import takes 7 ms, as long as some commands compute."""

    n = 0

    def __init__(self, items: Optional[Iterable[Any]] = None):
        self.items = items

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items or ())

    def __enter__(self) -> "HiddenBar":
        return self

    def __exit__(self, *problem: object) -> None:
        pass

    def write(self, text: str, file: TextIO) -> None:
        print(text, file=file)

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments, **options: None


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    shell = sys.modules.get("IPython")
    return shell is not None and "IPKernelApp" in getattr(shell.get_ipython(), "config", {})
