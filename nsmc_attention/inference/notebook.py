"""HTML for notebooks: the frame, shades, and matrices to unfold; each system writes its own results into it.

Static: no script, nothing loaded, no element ids. The style applies below one class only and brings its own paper, so
any number of outputs stand in one notebook, readable in light and dark themes.
"""

from html import escape
from typing import Iterable, Sequence

from ..colors import DARK, LIGHT, strength
from .matrices import Matrix, largest_of

# Cells of the matrices in one output, each some 100 bytes of the notebook's file
MOST_CELLS = 4096

# What hosts in their dark theme have: JupyterLab, Notebook 7 and nbconvert, VS Code, Colab, documentation by Sphinx
DARK_HOSTS = ('body[data-jp-theme-light="false"]', "body.vscode-dark", 'html[theme="dark"]', 'html[data-theme="dark"]')

STYLE = f"""
.nsmc-attention {{ {LIGHT.variables()} }}
{", ".join(f"{host} .nsmc-attention" for host in DARK_HOSTS)} {{ {DARK.variables()} }}
.nsmc-attention {{ width: fit-content; max-width: 100%; box-sizing: border-box; margin: .2rem 0; padding: .5rem .8rem;
  border: 1px solid var(--line); border-radius: .4rem; background: var(--paper); color: var(--ink);
  font: 14px/1.6 sans-serif; }}
.nsmc-attention .nsmc-head {{ color: var(--dim); font-size: 12px; }}
.nsmc-attention b {{ color: var(--ink); }}
.nsmc-attention .nsmc-ramp {{ display: inline-block; width: 5em; height: .7em; border: 1px solid var(--line); }}
.nsmc-attention .nsmc-words {{ font-size: 16px; line-height: 2; overflow-wrap: anywhere; }}
.nsmc-attention .nsmc-words span {{ padding: .1em 0; box-shadow: inset 1px 0 var(--paper); }}
.nsmc-attention .nsmc-review {{ display: grid; grid-template-columns: 4.5em 1fr; gap: .8em; align-items: start; }}
.nsmc-attention .nsmc-review > :first-child {{ text-align: right; padding: .2em .4em; margin: .3em 0; border-radius: .2em; }}
.nsmc-attention .nsmc-against {{ text-decoration: underline dotted; text-underline-offset: .25em; }}
.nsmc-attention .nsmc-pair {{ display: inline-grid; vertical-align: top; max-width: 100%; margin-bottom: .3em;
  font-size: 16px; white-space: pre-wrap; overflow-wrap: anywhere; }}
.nsmc-attention .nsmc-pair > * {{ min-height: 1.6em; text-underline-offset: .25em; }}
.nsmc-attention .nsmc-pair > :first-child {{ color: var(--dim); }}
.nsmc-attention ins {{ text-decoration: none; }}
.nsmc-attention ins:not(:empty) {{ font-weight: bold; text-decoration: underline 2px; background: rgba(var(--neutral),.25); }}
.nsmc-attention details {{ --strongest: .95; overflow: auto; }}
.nsmc-attention summary {{ cursor: pointer; font-size: 12px; }}
.nsmc-attention table {{ display: inline-table; width: auto; margin: .4rem .8rem .4rem 0; font-size: 11px;
  border-collapse: separate; border-spacing: 1px; }}
.nsmc-attention tr {{ background: none !important; }}
.nsmc-attention caption, .nsmc-attention th {{ color: var(--ink); font-weight: normal; padding: 0 3px; }}
.nsmc-attention thead th {{ writing-mode: vertical-rl; text-align: right; }}
.nsmc-attention tbody th {{ text-align: right; white-space: nowrap; }}
.nsmc-attention td {{ width: 1.4em; min-width: 1.4em; height: 1.4em; padding: 0; border: 1px solid var(--line); }}
"""
# Characters of a text in a repr
SHOWN = 40


def in_frame(content: str) -> str:
    """Return HTML with the style that it needs; also for what has no words."""
    return f'<style>{STYLE}</style><div class="nsmc-attention">{content}</div>'


def color(value: float, largest: float, signed: bool) -> str:
    """Return the declaration of a background in the shade of a value, as `Theme.shade` mixes it."""
    hue = ("against" if value < 0 else "for") if signed else "neutral"
    return f"rgba(var(--{hue}),calc(var(--strongest)*{strength(value, largest):.2f}))"


def number(value: float, signed: bool) -> str:
    return f"{value:+.3f}" if signed else f"{value:.3f}"


def legend(largest: float, signed: bool) -> str:
    """Return the shades between the names of their ends."""
    steps = [color(value, 1, signed) for value in ((-1.0, 0.0, 1.0) if signed else (0.0, 1.0))]
    ramp = f'<span class="nsmc-ramp" style="background:linear-gradient(to right,{",".join(steps)})"></span>'
    if signed:
        return f"negative {number(-largest, True)} {ramp} {number(largest, True)} positive"
    return f"0 {ramp} {number(largest, False)}"


def matrices_html(found: Sequence[Matrix]) -> str:
    """Return matrices to unfold, on one colour scale; of too many cells, what draws them."""
    rows, columns = found[0].weights.shape
    size = f"{f'{len(found)} × ' if found[1:] else ''}{rows} × {columns}"
    if len(found) * rows * columns > MOST_CELLS:
        return f'<div class="nsmc-head">{size} weights: too many to unfold, draw them with draw_heatmap</div>'
    largest = largest_of(found)
    tables = "".join(table(each, largest) for each in found)
    scale = f'<div class="nsmc-head">{legend(largest, False)}</div>'
    return f"<details><summary>{size} weights</summary>{scale}{tables}</details>"


def table(matrix: Matrix, largest: float) -> str:
    """Return a matrix as a table, a row for each query."""
    caption = f"<caption>{escape(matrix.title)}</caption>" if matrix.title else ""
    body = "".join(row(query, matrix.keys, values, largest) for query, values in zip(matrix.queries, matrix.weights))
    heads = "".join(f"<th>{escape(key)}</th>" for key in matrix.keys)
    return f"<table>{caption}<thead><tr><th></th>{heads}</tr></thead><tbody>{body}</tbody></table>"


def row(query: str, keys: Sequence[str], values: Iterable[float], largest: float) -> str:
    cells = (
        f'<td style="background:{color(value, largest, False)}" '
        f'title="{escape(f"{query} → {key}: {number(value, False)}")}"></td>'
        for key, value in zip(keys, values)
    )
    return f"<tr><th>{escape(query)}</th>{''.join(cells)}</tr>"


def shortened(text: str) -> str:
    """Return the repr of a text, cut off after SHOWN characters."""
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 1] + "…")
