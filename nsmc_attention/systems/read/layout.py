"""The boxes of the lines of text in a screenshot: a recursive XY cut of its ink.

Of each region (`panels`), ink is cut at white gaps: first at gutters between columns, then into rows, then at wide gaps of a row
(G. Nagy and S. Seth, Hierarchical representation of optically scanned documents, 1984).
"""

from collections.abc import Iterator, Sequence

import numpy

from ...machine.aliases import Numbers
from .panels import AREA, BOTTOM, LEFT, NO_LETTER, NUMBER, RIGHT, TOP, USUAL, Items, Region, region_of, regions, size_of
from .strips import Box, Gray

# Shares of a letter's height: gaps between columns, strokes of one line, more than a line, a low line such as dots, and a
# row around the letters that it has
WIDE, ONE_LINE, HIGH, LOW, ROW = 1.6, 1.5, 1.9, 0.8, 1.1
# Rules are longer than so many letters, and at most so thick, as a share of a letter
RULE, THICK = 5, 0.3
# The height of dots, as a share of a letter's, and of what they lack the part above them
DOT, ABOVE_DOTS = 0.3, 0.85
# The longer side of the least line, as a share of a letter's: less is a speck
DASH = 0.5
# A gap between columns that are close to each other, as a share of a letter's height
CLOSE = 0.55
# Columns have lines at the same height in such a share of rows, not the bubbles left and right in a chat
BESIDE = 0.2


def find_lines(gray: Gray) -> list[Box]:
    """Return where the lines of text of a picture (H, W) are, in reading order."""
    if not gray.size:
        return []
    region = region_of(gray)
    return lines_of(region, size_of(numpy.concatenate([each.items for each in regions(region)]), USUAL))


def lines_of(region: Region, usual: int) -> list[Box]:
    """Return the lines of a region in reading order; `usual` is the height of letters of the whole picture."""
    size = size_of(region.items, usual)
    width, height = region.items[:, RIGHT] - region.items[:, LEFT], region.items[:, BOTTOM] - region.items[:, TOP]
    thick = max(3, THICK * size)
    rule = ((width > RULE * size) & (height <= thick)) | ((height > 2 * size) & (width <= thick))
    large = (width >= NO_LETTER) & (height >= NO_LETTER)
    kept = region.items[~(rule | large) | (region.items[:, NUMBER] > 0)]
    parts = list(cut(kept, region, size)) if len(kept) else []
    boxes = numpy.array([extent(part) for part in parts], "int64").reshape(-1, 4)
    lines = []
    for part, box in zip(parts, boxes):
        if part[0, NUMBER]:
            lines += lines_of(region.panels[part[0, NUMBER] - 1], usual)
        elif max(box[2] - box[0], box[3] - box[1]) >= DASH * size:
            left, top, right, bottom = box if box[3] - box[1] >= LOW * size else heightened(part, boxes, region, size)
            lines.append(Box(left + region.left, top + region.top, right + region.left, bottom + region.top))
    return lines


def cut(items: Items, region: Region, usual: int) -> Iterator[Items]:
    """Yield the components of each line, and each panel, of a part of a region, in reading order."""
    size = size_of(items, usual)
    rows = joined(groups(items, TOP), size)
    columns = groups(items, LEFT, WIDE * size, isolated=len(rows) == 1)
    if len(columns) > 1 and (len(rows) == 1 or side_by_side(columns, rows)):
        parts = columns
    else:
        parts = blocks(rows, WIDE * size) if len(rows) > 1 else row_parts(items, size)
    if len(parts) == 1:
        yield items
    else:
        for part in parts:
            yield from cut(part, region, size)


def groups(items: Items, axis: int, gap: float = 0, isolated: bool = False) -> list[Items]:
    """Return components in groups that are `gap` pixels or more apart on an axis, LEFT or TOP.

    Panels may be at any distance from each other, and if `isolated` from other components.
    """
    items = items[items[:, axis].argsort(kind="stable")]
    ends = numpy.maximum.accumulate(items[:, axis + 2])
    panel = items[:, NUMBER] > 0
    ending = numpy.maximum.accumulate(numpy.where(panel, items[:, axis + 2], -1)) == ends
    close = panel[1:] | ending[:-1] if isolated else panel[1:] & ending[:-1]
    return numpy.split(items, numpy.flatnonzero(items[1:, axis] - ends[:-1] >= numpy.where(close, 0, gap)) + 1)


def extent(items: Items) -> tuple[int, int, int, int]:
    """Return the left, top, right and bottom of components."""
    (left, top), (right, bottom) = items[:, LEFT:RIGHT].min(axis=0), items[:, RIGHT:AREA].max(axis=0)
    return int(left), int(top), int(right), int(bottom)


def joined(rows: Sequence[Items], size: int) -> list[Items]:
    """Return rows, those together that are strokes of the same letters."""
    result = [rows[0]]
    for row in rows[1:]:
        both = numpy.concatenate([result[-1], row])
        _, top, _, bottom = extent(both)
        if bottom - top <= ONE_LINE * size and not both[:, NUMBER].any():
            result[-1] = both
        else:
            result.append(row)
    return result


def side_by_side(columns: Sequence[Items], rows: Sequence[Items]) -> bool:
    """Return whether enough of the rows, and two, are in several columns."""
    starts = [column[:, LEFT].min() for column in columns]
    several = sum(len(set(numpy.searchsorted(starts, row[:, LEFT], "right"))) > 1 for row in rows)
    return several >= max(2, BESIDE * len(rows))


def blocks(rows: Sequence[Items], gap: float) -> list[Items]:
    """Return rows, those together that the same gutter runs through, `gap` pixels wide; the rows where this is all."""
    starts, bottom = [0], 0
    run = numpy.empty((0, 6), "int64")
    for index, row in enumerate(rows):
        own = spans(row, gap)
        both = spans(numpy.concatenate([run, own]), gap)
        near = own[:, TOP].min() - bottom <= gap
        if index and (len(run) < 2 or len(both) < 2 or not (len(own) > 1 or near)):
            starts.append(index)
            both = own
        run, bottom = both, own[:, BOTTOM].max()
    if len(starts) == 1:
        return list(rows)
    return [numpy.concatenate(rows[start:end]) for start, end in zip(starts, [*starts[1:], len(rows)])]


def spans(items: Items, gap: float) -> Items:
    """Return the extents of components that are `gap` apart, as components."""
    return numpy.array([(*extent(group), 0, group[:, NUMBER].max()) for group in groups(items, LEFT, gap)])


def row_parts(items: Items, size: int) -> list[Items]:
    """Return the pieces of a part without wide gaps: panels and the rest, columns of several rows, or a line."""
    panel = items[:, NUMBER] > 0
    if panel.any():
        return [part for part in (items[~panel], *numpy.split(items[panel], panel.sum())) if len(part)]
    _, top, _, bottom = extent(items)
    columns = groups(items, LEFT, CLOSE * size)
    several = bottom - top > HIGH * size and any(len(joined(groups(each, TOP), size)) > 1 for each in columns)
    return columns if several else [items]


def heightened(items: Items, boxes: Numbers, region: Region, size: int) -> tuple[int, int, int, int]:
    """Return the extent of a low line, such as dots, with the height of others; `boxes` (N, 4) are those around it."""
    left, top, right, bottom = extent(items)
    missing = round(ROW * size) - (bottom - top)
    over = boxes[(boxes[:, 0] < right) & (boxes[:, 2] > left)]
    highest = max([0, *over[over[:, 3] <= top, 3]])
    lowest = min([region.ink.shape[0], *over[over[:, 1] >= bottom, 1]])
    width, height = items[:, RIGHT] - items[:, LEFT], items[:, BOTTOM] - items[:, TOP]
    dots = (width <= 2 * height).all() and height.max() <= DOT * size
    above = min(top - highest, round(missing * (ABOVE_DOTS if dots else 0.5)))
    below = min(lowest - bottom, missing - above)
    return left, top - above, right, bottom + below
