"""The layout of a screenshot: gray pixels in, boxes of its lines of text out, also in bubbles, cards and tables.

Ink begins where the gray of neighboring pixels differs, whichever is darker. Its connected components are letters, parts
of letters, or edges of bubbles, rules and pictures. Distance and overlap join them into words, and words into lines.
"""

from functools import reduce
from typing import Any, Optional

import numpy
from numpy.typing import NDArray
from scipy import ndimage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ...errors import DataError
from ...machine.aliases import Numbers
from .strips import BOTTOM, LEFT, RIGHT, TOP, Box, Boxes, Gray, around, sides, within

# Least difference of gray within 2 x 2 pixels at an edge of ink, also as a share of the largest difference nearby
EDGE, RINGING = 20, 0.3
# Shares: a speck covers less than SPECK of a letter's square and is fainter than FAINT of the strongest ink; photographs
# are ink by more than MOST or FULL, rules around text by less than SPARSE
SPECK, FAINT, MOST, FULL, SPARSE = 0.1, 0.3, 0.85, 0.75, 0.4
# Heights of letters in pixels: if no letter is visible, and the limits of letters
USUAL, LOWEST, HIGHEST = 12, 5, 250
# In heights of letters: thickness of strokes, least height of tags and pictures, least length and most thickness of rules,
# least length of lines, distance of grays from an edge. Shares: of an edge with different sides, of a tag that is text
STROKE, LARGER, PICTURE, RULE, THIN, DASH, ASIDE, DIFFERENT, TEXT = 0.25, 1.1, 1.3, 5, 0.3, 0.5, 0.4, 0.75, 0.4
# As shares of a height: gaps in words, lines and rows; least height of a letter beside another one, largest height of dots
# and dashes. A line's gaps are at most WIDER times the usual gap of the picture (wide in Gulim), less THINNER before a 1
IN_WORD, IN_LINE, IN_ROW, ALIKE, DOT, WIDER, THINNER = 0.3, 0.65, 1.4, 0.63, 0.35, 4.2, 0.05
# Largest gap between strokes of a letter above each other, as a share of their joint height; or of the higher one, if
# their joint height is at most ONE_LETTER times as high
STROKES, STACKED, ONE_LETTER = 0.05, 0.2, 1.2
# A line of dots, dashes or ㅋ is lower than LOW of the letters and FLAT of its pitch, and is enlarged to ROW. Columns have
# lines at the same height in at least a share BESIDE of rows, unlike bubbles
LOW, FLAT, ROW, BESIDE = 0.56, 0.8, 1.1, 0.2
# Most components (1920 x 1080 pixels of small text have 15,776), pairs of them and lines; pixels for the height of letters
COMPONENTS, PAIRS, LINES, SAMPLE = 2**15, 2**23, 2**11, 2**23
Mask = NDArray[numpy.bool_]
Ink = tuple[Numbers, Numbers]  # flat indices of pixels, and the component of each


def find_lines(gray: Gray, contrast: Optional[Gray] = None) -> list[Box]:
    """Return the boxes of lines of text in a picture (H, W), in reading order; `contrast` is its `framed_contrast`."""
    if not gray.size:
        return []
    contrast = framed_contrast(gray) if contrast is None else contrast
    ink, boxes, size = ink_of(contrast)
    letters, large, walls = are_letters(ink, boxes, size, framed(gray), contrast)
    lines = numpy.append(lines_of(boxes[letters], size, (walls, contrast.shape[1])), boxes[large], axis=0)
    shrunk = lines + (sides(lines)[1][:, None] // 8) * [0, 1, 0, -1]  # rows may overlap a little
    lines = lines.clip(0, [gray.shape[1], gray.shape[0]] * 2)
    return [within(gray, Box(*lines[number].tolist())) for number in in_order(numpy.arange(len(lines)), shrunk)]


def framed(gray: Gray) -> Gray:
    """Return a picture with a frame, one pixel wide, of its most frequent gray."""
    return numpy.pad(gray, 1, constant_values=int(numpy.bincount(gray[::3, ::3].ravel()).argmax()))


def framed_contrast(gray: Gray) -> Gray:
    """Return the largest difference of gray within each 2 x 2 pixels of the framed picture, (H + 1, W + 1)."""
    gray = framed(gray)
    rows = [extreme(gray[:-1], gray[1:]) for extreme in (numpy.maximum, numpy.minimum)]
    highest, lowest = numpy.maximum(rows[0][:, :-1], rows[0][:, 1:]), numpy.minimum(rows[1][:, :-1], rows[1][:, 1:])
    return numpy.subtract(highest, lowest, out=highest)


def begins(contrast: Gray) -> Mask:
    """Return the edges of ink, without the weaker differences that JPEG spreads over the 8 x 8 pixels around an edge."""
    rows, columns = contrast.shape
    blocks = of_blocks(numpy.maximum, numpy.pad(contrast, ((0, -rows % 8), (0, -columns % 8))), 8)
    least = numpy.maximum(EDGE, numpy.ceil(RINGING * blocks)).astype("uint8")
    return contrast >= least.repeat(8, axis=0).repeat(8, axis=1)[:rows, :columns]


def of_blocks(extreme: Any, values: NDArray[Any], size: int) -> NDArray[Any]:
    """Return the extreme (numpy.maximum or numpy.minimum) of each complete block of size x size pixels."""
    rows, columns = (side // size for side in values.shape)
    by_row = extreme.reduce(values[: rows * size].reshape(rows, size, -1), axis=1)[:, : columns * size]
    return reduce(extreme, (by_row[:, column::size] for column in range(size)))


def components(mask: Mask) -> tuple[Numbers, Boxes]:
    """Return the component of each pixel, 0 for none, and the components' boxes; DataError for too many components."""
    labels, count = ndimage.label(mask, numpy.ones((3, 3)))
    at_most(COMPONENTS, count, "separate marks, as of dense text")
    corners = [(x.start, y.start, x.stop - 1, y.stop - 1) for y, x in ndimage.find_objects(labels)]
    return labels, numpy.array(corners, "int64").reshape(-1, 4)


def at_most(limit: int, count: int, noun: str) -> None:
    """Raise a DataError if a count exceeds its limit."""
    if count > limit:
        raise DataError(f"picture: expected at most {limit:,} {noun}, found {count:,}; cut out the part with text")


def ink_of(contrast: Gray) -> tuple[Ink, Boxes, int]:
    """Return the pixels of ink (edges and insides of strokes), the boxes of its components and the letters' height."""
    mask = begins(contrast)
    mask &= mask.mean() <= MOST
    # the first SAMPLE pixels are enough for the height of letters
    width, height = sides(components(mask[: SAMPLE // mask.shape[1] + 1])[1])
    heights = height[(height >= LOWEST) & (height <= HIGHEST) & (width < 4 * height)]
    size = int(numpy.percentile(heights, 85)) if len(heights) else USUAL
    places = numpy.flatnonzero(filled(mask, max(2, round(STROKE * size) - 1))).astype("int32")
    labels, boxes = components(mask)
    return (places, labels.ravel()[places] - 1), boxes, size


def filled(mask: Mask, width: int) -> Mask:
    """Fill areas between edges that have no `width` x `width` free pixels, such as insides of strokes; return the mask."""
    spaces, count = ndimage.label(numpy.logical_not(mask, out=mask))
    wide = of_blocks(numpy.minimum, mask, width)
    narrow = numpy.ones(count + 1, bool)
    narrow[spaces[::width, ::width][: len(wide), : wide.shape[1]][wide]] = False
    for row, numbers in zip(mask, spaces):
        row[:] = narrow[numbers]
    return mask


def are_letters(ink: Ink, boxes: Boxes, size: int, gray: Gray, contrast: Gray) -> tuple[Mask, Mask, Numbers]:
    """Return masks of components that may be letters and single large letters, and the pixels of high edges."""
    (places, numbers), (width, height) = ink, sides(boxes)
    shorter, longer = numpy.minimum(width, height), numpy.maximum(width, height)
    areas = numpy.bincount(numbers, minlength=len(width))
    strongest = numpy.zeros(len(width), "uint8")
    numpy.maximum.at(strongest, numbers, contrast.ravel()[places])
    specks = (shorter == 0) | (areas <= SPECK * size**2) & (strongest < FAINT * strongest.max(initial=0))
    rules = (longer > RULE * size) & ((shorter <= max(2, THIN * size)) | (areas < 2 * (width + height)))
    edges = rules | specks | (height > HIGHEST)
    large = ~edges & (height > PICTURE * size)
    outlines = large | ~edges & (longer > size) & (areas < 3 * (width + height))
    edges |= between_grays(ink, outlines, gray, ASIDE * size)
    thin = ~edges & (areas < numpy.maximum(8 * (width + height), SPARSE * width * height))
    for number in numpy.flatnonzero((height > LARGER * size) & thin):
        left, top, right, bottom = boxes[number]
        inner = boxes[((boxes > [left, top, 0, 0]) & (boxes < [right, bottom, right, bottom])).all(axis=1) & ~specks]
        shifts = inner[:, [TOP, BOTTOM]].sum(axis=1) - top - bottom
        wide = len(inner) and (large[number] or numpy.ptp(inner[:, [LEFT, RIGHT]]) > TEXT * width[number])
        edges[number] = wide and (len(inner) > 1 or (numpy.abs(shifts) < height[number] / 4).any())
    # a picture has no letter of similar height beside it
    first, second, _ = beside(boxes, numpy.where(edges, -1, IN_ROW * height))
    alike = ~edges[first] & ~edges[second] & (height[second] >= ALIKE * height[first])
    single = ~edges & large & ~numpy.isin(numpy.arange(len(height)), [first[alike], second[alike]])
    walls = places[(edges & ~specks & (height > PICTURE * size) & (longer > 2.5 * size))[numbers]]
    return ~edges & ~single, single & (areas < FULL * width * height), walls


def between_grays(ink: Ink, candidates: Mask, gray: Gray, distance: float) -> Mask:
    """Return the candidates (a mask of components) with different grays on their two sides, unlike a stroke."""
    places, numbers = (array[candidates[ink[1]]] for array in ink)
    step = len(places) // 2**16 + 1
    middle = numpy.array(numpy.divmod(places[::step], gray.shape[1] - 1))
    corners = [gray[middle[0] + y, middle[1] + x].astype("float32") for y in (0, 1) for x in (0, 1)]
    slopes = numpy.array([numpy.tensordot(signs, corners, 1) for signs in ((-1, -1, 1, 1), (-1, 1, -1, 1))])
    slopes *= distance / numpy.maximum(1, numpy.hypot(*slopes))
    limits = numpy.array(gray.shape)[:, None] - 1
    uphill, downhill = (
        gray[tuple(numpy.rint(middle + 0.5 + slope).astype("int64").clip(0, limits))].astype("float32")
        for slope in (slopes, -slopes)
    )
    differ = numpy.abs(uphill - downhill) > (numpy.max(corners, axis=0) - numpy.min(corners, axis=0)) / 2
    votes, pixels = (numpy.bincount(numbers[::step], weights, len(candidates)) for weights in (differ, None))
    return votes > DIFFERENT * pixels


def beside(boxes: Boxes, reach: Numbers, axis: int = LEFT) -> tuple[Numbers, Numbers, Numbers]:
    """Return pairs of boxes beside (axis TOP: above) each other, at most `reach` of the first apart, and their gaps."""
    across = TOP - axis
    middles = boxes[:, across] + boxes[:, across + 2]
    order = middles.argsort(kind="stable").astype("int32")  # there may be millions of pairs
    starts = numpy.searchsorted(middles[order], 2 * boxes[:, across])
    counts = numpy.searchsorted(middles[order], 2 * boxes[:, across + 2], "right") - starts
    at_most(PAIRS, counts.sum(), "marks beside each other")
    first = numpy.arange(len(boxes), dtype="int32").repeat(counts)
    second = order[numpy.arange(len(first)) + (starts - counts.cumsum() + counts).repeat(counts)]
    start, end = boxes[:, [axis, axis + 2]].T.astype("int32")
    gaps = numpy.maximum(start[second] - end[first], start[first] - end[second])
    near = (gaps <= reach[first]) & (first != second)
    return first[near], second[near], gaps[near]


def above(boxes: Boxes, wide: int = 0) -> tuple[Numbers, Numbers]:
    """Return pairs of boxes above each other that belong to the same letters; width counts as height up to `wide`."""
    width, height = sides(boxes)
    sizes = numpy.maximum(height, numpy.minimum(width, wide))
    first, second, gaps = beside(boxes, sizes, TOP)
    larger = numpy.maximum(sizes[first], sizes[second])
    tops = numpy.minimum(boxes[first, TOP], boxes[second, TOP])
    joint = numpy.maximum(boxes[first, BOTTOM], boxes[second, BOTTOM]) - tops
    kept = (gaps <= STROKES * joint) | ((gaps <= STACKED * larger) & (joint <= ONE_LETTER * larger))
    return first[kept], second[kept]


def joined(count: int, first: Numbers, second: Numbers) -> Numbers:
    """Return the group of each of `count` boxes (count,), where pairs of boxes are in the same group."""
    pairs = coo_array((numpy.ones(len(first), bool), (first, second)), shape=(count, count))
    return connected_components(pairs, directed=False)[1]


def are_apart(boxes: Boxes, first: Numbers, second: Numbers, walls: tuple[Numbers, int]) -> Mask:
    """Return which pairs of boxes have a wall between them; `walls` are sorted flat indices and the width of a row."""
    rows = boxes[first][:, [TOP, BOTTOM]].sum(axis=1) // 2 * walls[1]
    start, end = numpy.minimum(*boxes[[first, second], RIGHT]), numpy.maximum(*boxes[[first, second], LEFT])
    return numpy.less(*numpy.searchsorted(walls[0], [rows + start, rows + end]))


def lines_of(letters: Boxes, size: int, walls: tuple[Numbers, int]) -> Boxes:
    """Return the boxes of lines of letters, none of which crosses a wall."""
    first, second, _ = beside(letters, IN_WORD * numpy.maximum(sides(letters)[1], size))
    pairs = numpy.array([first, second])[:, ~are_apart(letters, first, second, walls)]
    numbers = joined(len(letters), *map(numpy.append, pairs, above(letters, size)))
    for _ in range(2):  # the second pass joins letters beside a dash
        rows, unit = around(letters, numbers), units(letters, numbers, size)
        _, height = sides(rows)
        first, second, gaps = beside(rows, IN_ROW * unit)
        alike = numpy.maximum(height[second] / height[first], unit[second] / unit[first]) >= ALIKE
        kept = alike | (height[second] < DOT * height[first]) & (gaps <= IN_LINE * height[first])
        kept &= ~are_apart(rows, first, second, walls)
        numbers = joined(len(rows), first[kept], second[kept])[numbers]
    numbers = joined(numbers.max(initial=-1) + 1, *above(around(letters, numbers)))[numbers]
    order = numpy.lexsort((letters[:, LEFT], numbers))
    by_row = numpy.split(letters[order], numpy.flatnonzero(numpy.diff(numbers[order])) + 1)[: len(order)]
    row_gaps = [gaps_of(row, size) if len(row) > 1 else (row[:0, 0],) * 2 for row in by_row]
    usual = numpy.median(numpy.concatenate([*(widths for _, widths in row_gaps), [IN_LINE / WIDER]]))
    starts = [start for excess, _ in row_gaps for start in (True, *(excess > max(IN_LINE, WIDER * usual)))]
    letters, numbers = letters[order], numpy.cumsum(starts, dtype=int) - 1
    lines, unit = around(letters, numbers), units(letters, numbers, size)
    kept = numpy.maximum(*sides(lines)) >= DASH * size
    at_most(LINES, kept.sum(), "lines of text")
    lines, unit = lines[kept], unit[kept]
    for number in numpy.flatnonzero(sides(lines)[1] < numpy.minimum(LOW * size, FLAT * unit)):
        lines[number] = heightened(number, lines, size)
    return lines


def units(letters: Boxes, numbers: Numbers, size: int) -> Numbers:
    """Return for each group of letters its height or pitch, whichever is larger; a wide box may be several letters."""
    width, height = sides(around(letters, numbers))
    order = numpy.lexsort((letters[:, LEFT], numbers))
    starts, ends = (letters[order, side] + numbers[order] * 2**31 for side in (LEFT, RIGHT))
    is_start = numpy.append(True, starts[1:] >= numpy.maximum.accumulate(ends)[:-1])[: len(order)]
    pitch = width / numpy.bincount(numbers[order[is_start]])
    return numpy.maximum(height, numpy.minimum(pitch, numpy.maximum(2 * height, size)))


def gaps_of(row: Boxes, size: int) -> tuple[Numbers, Numbers]:
    """Return the gaps between letters of a row, less the row's usual gap, and the gaps, as shares of height or pitch."""
    height, ends = numpy.ptp(row[:, [TOP, BOTTOM]]), numpy.maximum.accumulate(row[:, RIGHT])
    first = numpy.flatnonzero(numpy.append(True, row[1:, LEFT] >= ends[:-1]))
    wide = ends[numpy.append(first[1:], len(row)) - 1] - row[first, LEFT]
    letters = numpy.rint(wide / max(height, size / 2)).clip(1).sum()  # letters may touch
    unit = max(height, (ends[-1] - row[0, LEFT]) / letters)
    gaps, thin = (row[1:, LEFT] - ends[:-1]).clip(0), sides(row[1:])[0] < THIN * height
    usual = numpy.sort(numpy.append(gaps, 0))[len(gaps) // 2]
    return (gaps - min(usual, unit / 2)) / unit - THINNER * thin, gaps[gaps > 0] / unit


def heightened(number: int, lines: Boxes, size: int) -> tuple[int, int, int, int]:
    """Return the box of a line of dots or dashes, enlarged to the height of letters as far as other lines permit."""
    left, top, right, bottom = lines[number].tolist()
    column = lines[(lines[:, LEFT] < right) & (lines[:, RIGHT] > left)]
    missing = max(0, round(ROW * size) - (bottom - top))
    highest = max(column[column[:, BOTTOM] <= top, BOTTOM].max(initial=0), top - missing * 2 // 3)
    return left, highest, right, min(column[column[:, TOP] >= bottom, TOP].min(initial=2**31), bottom + missing // 3)


def in_order(members: Numbers, boxes: Boxes) -> list[int]:
    """Return the lines `members` (indices of boxes) in reading order, column by column."""
    rows, columns = groups(members, boxes, TOP), groups(members, boxes, LEFT)
    starts = [boxes[column, LEFT].min(initial=2**31) for column in columns]
    shared_rows = sum(len(set(numpy.searchsorted(starts, boxes[row, LEFT], "right"))) > 1 for row in rows)
    has_columns = len(columns) > 1 and (len(rows) == 1 or shared_rows >= max(2, BESIDE * len(rows)))
    parts = columns if has_columns else blocks(rows, boxes)
    if len(parts) == 1:
        return list(members[boxes[members, TOP].argsort(kind="stable")])
    return [number for part in parts for number in in_order(part, boxes)]


def groups(members: Numbers, boxes: Boxes, axis: int) -> list[Numbers]:
    """Return the lines `members` in groups that do not overlap on an axis, LEFT or TOP."""
    members = members[boxes[members, axis].argsort(kind="stable")]
    ends = numpy.maximum.accumulate(boxes[members, axis + 2])
    return numpy.split(members, numpy.flatnonzero(boxes[members[1:], axis] >= ends[:-1]) + 1)


def blocks(rows: list[Numbers], boxes: Boxes) -> list[Numbers]:
    """Return rows, with adjacent rows merged if the same vertical gap divides them; the given rows if all merge."""
    result = rows[:1]
    for row in rows[1:]:
        merged = numpy.append(result[-1], row)
        share_gap = min(len(groups(members, boxes, LEFT)) for members in (result[-1], merged)) > 1
        result[-1:] = [merged] if share_gap else [result[-1], row]
    return result if len(result) > 1 else rows
