import sys
import warnings
from types import SimpleNamespace

import pytest

from nsmc_attention.machine.progress import in_notebook, progress_bar


@pytest.mark.parametrize("shown, expected", [(None, ""), (False, ""), (True, "scoring: 100%")])
def test_a_log_has_no_bar_unless_asked_for(capsys, shown, expected):
    assert list(progress_bar(range(3), shown, desc="scoring")) == [0, 1, 2]
    written = capsys.readouterr()
    assert (expected in written.err if expected else not written.err) and not written.out


@pytest.mark.parametrize("config, notebook", [({"IPKernelApp": {}}, True), ({"TerminalIPythonApp": {}}, False)])
def test_a_notebook_has_a_bar_and_no_warning_without_ipywidgets(capsys, monkeypatch, config, notebook):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace(config=config)))
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(progress_bar(range(3), desc="scoring")) == [0, 1, 2]
    assert in_notebook() == notebook == ("scoring" in capsys.readouterr().err)


def test_plain_python_is_no_notebook(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not in_notebook()
