"""The boxes of the lines of text in a screenshot, whatever bubble, card or table they are in.

Ink begins where the gray of neighbouring pixels differs, whichever is darker. Its connected components are letters and their
parts, or edges of bubbles, rules and pictures. Parts are joined into words, and words into lines, by distance and overlap.
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

# Where ink begins, gray differs within 2 x 2 pixels by EDGE, and by the share RINGING of the largest difference nearby
EDGE, RINGING = 20, 0.3
# Shares: a speck has less of a letter's square, and less of the strongest ink; of photographs, more than MOST or FULL
# is ink, of rules around text less than SPARSE
SPECK, FAINT, MOST, FULL, SPARSE = 0.1, 0.3, 0.85, 0.75, 0.4
# The height of letters in pixels where none is seen, and those of the lowest and highest letters
USUAL, LOWEST, HIGHEST = 12, 5, 250
# In heights of letters: strokes are STROKE thick, tags higher than LARGER, pictures than PICTURE, rules longer than RULE, thinner
# than THIN, lines longer than DASH; ASIDE an edge, gray differs at a share DIFFERENT; text is wider than TEXT of its tag
STROKE, LARGER, PICTURE, RULE, THIN, DASH, ASIDE, DIFFERENT, TEXT = 0.25, 1.1, 1.3, 5, 0.3, 0.5, 0.4, 0.75, 0.4
# As shares of a height: gaps in words, in lines and in rows; the least height of what is beside letters, and the largest of dots
# and dashes. A line has gaps up to WIDER of those between the letters of its picture, which Gulim sets apart, and THINNER before a 1
IN_WORD, IN_LINE, IN_ROW, ALIKE, DOT, WIDER, THINNER = 0.3, 0.65, 1.4, 0.63, 0.35, 4.2, 0.05
# Strokes of a letter above each other: the gap as a share of their height together, or of the larger one if together
# they are no higher than ONE_LETTER of it
STROKES, STACKED, ONE_LETTER = 0.05, 0.2, 1.2
# A line of dots, dashes or ㅋ is lower than LOW of the letters and FLAT of the distance between its own, and becomes ROW
# high. Columns have lines at the same height in a share BESIDE of rows, unlike bubbles
LOW, FLAT, ROW, BESIDE = 0.56, 0.8, 1.1, 0.2
# The most components (1920 x 1080 pixels of small text have 15,776), pairs of them, and lines; pixels that tell the letters' height
COMPONENTS, PAIRS, LINES, SEEN = 2**15, 2**23, 2**11, 2**23
Mask = NDArray[numpy.bool_]
Ink = tuple[Numbers, Numbers]  # places, counted row by row, and the number of the component of each


def find_lines(gray: Gray, contrast: Optional[Gray] = None) -> list[Box]:
    """Return where the lines of text of a picture (H, W) are, in reading order; by its `framed_contrast`, if given."""
    if not gray.size:
        return []
    contrast = framed_contrast(gray) if contrast is None else contrast
    ink, boxes, size = ink_of(contrast)
    letters, alone, walls = are_letters(ink, boxes, size, framed(gray), contrast)
    lines = numpy.append(lines_of(boxes[letters], size, (walls, contrast.shape[1])), boxes[alone], axis=0)
    low = lines + (sides(lines)[1][:, None] // 8) * [0, 1, 0, -1]  # rows may overlap a little
    lines = lines.clip(0, [gray.shape[1], gray.shape[0]] * 2)
    return [within(gray, Box(*lines[number].tolist())) for number in in_order(numpy.arange(len(lines)), low)]


def framed(gray: Gray) -> Gray:
    """Return a picture with a pixel of its most frequent gray around it."""
    return numpy.pad(gray, 1, constant_values=int(numpy.bincount(gray[::3, ::3].ravel()).argmax()))


def framed_contrast(gray: Gray) -> Gray:
    """Return how much gray differs within each 2 x 2 pixels of a framed picture: (H + 1, W + 1)."""
    gray = framed(gray)
    rows = [extreme(gray[:-1], gray[1:]) for extreme in (numpy.maximum, numpy.minimum)]
    highest, lowest = numpy.maximum(rows[0][:, :-1], rows[0][:, 1:]), numpy.minimum(rows[1][:, :-1], rows[1][:, 1:])
    return numpy.subtract(highest, lowest, out=highest)


def begins(contrast: Gray) -> Mask:
    """Return where ink begins or ends."""
    # a letter's edge is spread over its surroundings: by JPEG over the block of 8 x 8 pixels that it is in
    rows, columns = contrast.shape
    blocks = of_blocks(numpy.maximum, numpy.pad(contrast, ((0, -rows % 8), (0, -columns % 8))), 8)
    least = numpy.maximum(EDGE, numpy.ceil(RINGING * blocks)).astype("uint8")
    return contrast >= least.repeat(8, axis=0).repeat(8, axis=1)[:rows, :columns]


def of_blocks(extreme: Any, values: NDArray[Any], size: int) -> NDArray[Any]:
    """Return the extreme, numpy.maximum or numpy.minimum, of each block of size x size pixels that is whole."""
    rows, columns = (side // size for side in values.shape)
    of_rows = extreme.reduce(values[: rows * size].reshape(rows, size, -1), axis=1)[:, : columns * size]
    return reduce(extreme, (of_rows[:, column::size] for column in range(size)))


def components(mask: Mask) -> tuple[Numbers, Boxes]:
    """Return the component's number at each place, 0 for none, and the components' boxes; DataError for too many."""
    labels, count = ndimage.label(mask, numpy.ones((3, 3)))
    at_most(COMPONENTS, count, "separate marks, as of dense text")
    places = [(x.start, y.start, x.stop - 1, y.stop - 1) for y, x in ndimage.find_objects(labels)]
    return labels, numpy.array(places, "int64").reshape(-1, 4)


def at_most(most: int, count: int, what: str) -> None:
    """Raise a DataError for too many of something."""
    if count > most:
        raise DataError(f"picture: expected at most {most:,} {what}, found {count:,}; cut out the part with text")


def ink_of(contrast: Gray) -> tuple[Ink, Boxes, int]:
    """Return the places of ink, also inside strokes, with components' numbers, their boxes, and the letters' height."""
    mask = begins(contrast)
    mask &= mask.mean() <= MOST
    # a part is enough to see how high letters are
    width, height = sides(components(mask[: SEEN // mask.shape[1] + 1])[1])
    heights = height[(height >= LOWEST) & (height <= HIGHEST) & (width < 4 * height)]
    size = int(numpy.percentile(heights, 85)) if len(heights) else USUAL
    places = numpy.flatnonzero(filled(mask, max(2, round(STROKE * size) - 1))).astype("int32")
    labels, boxes = components(mask)
    return (places, labels.ravel()[places] - 1), boxes, size


def filled(mask: Mask, width: int) -> Mask:
    """Return a mask of edges in which what is nowhere `width` pixels wide and high, insides of strokes, is filled."""
    spaces, count = ndimage.label(numpy.logical_not(mask, out=mask))
    wide = of_blocks(numpy.minimum, mask, width)
    narrow = numpy.ones(count + 1, bool)
    narrow[spaces[::width, ::width][: len(wide), : wide.shape[1]][wide]] = False
    for row, numbers in zip(mask, spaces):
        row[:] = narrow[numbers]
    return mask


def are_letters(ink: Ink, boxes: Boxes, size: int, gray: Gray, contrast: Gray) -> tuple[Mask, Mask, Numbers]:
    """Return which components may be of letters, unlike edges of something else, which may be one large letter alone, and the
    places of high edges."""
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
    # a picture has no letter of about its height beside it
    first, second, _ = beside(boxes, numpy.where(edges, -1, IN_ROW * height))
    alike = ~edges[first] & ~edges[second] & (height[second] >= ALIKE * height[first])
    alone = ~edges & large & ~numpy.isin(numpy.arange(len(height)), [first[alike], second[alike]])
    walls = places[(edges & ~specks & (height > PICTURE * size) & (longer > 2.5 * size))[numbers]]
    return ~edges & ~alone, alone & (areas < FULL * width * height), walls


def between_grays(ink: Ink, chosen: Mask, gray: Gray, aside: float) -> Mask:
    """Return which of the chosen components have another gray on each side, unlike a stroke."""
    places, numbers = (each[chosen[ink[1]]] for each in ink)
    every = len(places) // 2**16 + 1
    middle = numpy.array(numpy.divmod(places[::every], gray.shape[1] - 1))
    corners = [gray[middle[0] + y, middle[1] + x].astype("float32") for y in (0, 1) for x in (0, 1)]
    slopes = numpy.array([numpy.tensordot(signs, corners, 1) for signs in ((-1, -1, 1, 1), (-1, 1, -1, 1))])
    slopes *= aside / numpy.maximum(1, numpy.hypot(*slopes))
    limits = numpy.array(gray.shape)[:, None] - 1
    one, other = (
        gray[tuple(numpy.rint(middle + 0.5 + slope).astype("int64").clip(0, limits))].astype("float32")
        for slope in (slopes, -slopes)
    )
    differ = numpy.abs(one - other) > (numpy.max(corners, axis=0) - numpy.min(corners, axis=0)) / 2
    yes, all_ = (numpy.bincount(numbers[::every], votes, len(chosen)) for votes in (differ, None))
    return yes > DIFFERENT * all_


def beside(boxes: Boxes, reach: Numbers, axis: int = LEFT) -> tuple[Numbers, Numbers, Numbers]:
    """Return pairs of boxes beside each other (axis TOP: above), the second in reach of the first; and their gaps."""
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
    """Return pairs of boxes above each other that are of the same letters; what is as wide as `wide` may be as high."""
    width, height = sides(boxes)
    own = numpy.maximum(height, numpy.minimum(width, wide))
    first, second, gaps = beside(boxes, own, TOP)
    larger = numpy.maximum(own[first], own[second])
    tops = numpy.minimum(boxes[first, TOP], boxes[second, TOP])
    both = numpy.maximum(boxes[first, BOTTOM], boxes[second, BOTTOM]) - tops
    kept = (gaps <= STROKES * both) | ((gaps <= STACKED * larger) & (both <= ONE_LETTER * larger))
    return first[kept], second[kept]


def joined(count: int, first: Numbers, second: Numbers) -> Numbers:
    """Return the number of the group of each of so many boxes, of which pairs connect some."""
    pairs = coo_array((numpy.ones(len(first), bool), (first, second)), shape=(count, count))
    return connected_components(pairs, directed=False)[1]


def are_apart(boxes: Boxes, first: Numbers, second: Numbers, walls: tuple[Numbers, int]) -> Mask:
    """Return which pairs of boxes beside each other have a wall between them: its sorted places, in rows of a width."""
    rows = boxes[first][:, [TOP, BOTTOM]].sum(axis=1) // 2 * walls[1]
    start, end = numpy.minimum(*boxes[[first, second], RIGHT]), numpy.maximum(*boxes[[first, second], LEFT])
    return numpy.less(*numpy.searchsorted(walls[0], [rows + start, rows + end]))


def lines_of(letters: Boxes, size: int, walls: tuple[Numbers, int]) -> Boxes:
    """Return the lines of letters and their parts, none of which goes through a wall."""
    first, second, _ = beside(letters, IN_WORD * numpy.maximum(sides(letters)[1], size))
    first, second = (each[~are_apart(letters, first, second, walls)] for each in (first, second))
    numbers = joined(len(letters), *map(numpy.append, (first, second), above(letters, size)))
    for _ in range(2):  # again, for what is beside a dash
        rows, unit = around(letters, numbers), units(letters, numbers, size)
        _, height = sides(rows)
        first, second, gaps = beside(rows, IN_ROW * unit)
        alike = numpy.maximum(height[second] / height[first], unit[second] / unit[first]) >= ALIKE
        kept = alike | (height[second] < DOT * height[first]) & (gaps <= IN_LINE * height[first])
        kept &= ~are_apart(rows, first, second, walls)
        numbers = joined(len(rows), first[kept], second[kept])[numbers]
    numbers = joined(numbers.max(initial=-1) + 1, *above(around(letters, numbers)))[numbers]
    order = numpy.lexsort((letters[:, LEFT], numbers))
    apart = numpy.split(letters[order], numpy.flatnonzero(numpy.diff(numbers[order])) + 1)[: len(order)]
    found = [gaps_of(row, size) if len(row) > 1 else (row[:0, 0],) * 2 for row in apart]
    usual = numpy.median(numpy.concatenate([*(own for _, own in found), [IN_LINE / WIDER]]))
    starts = [first for wider, _ in found for first in (True, *(wider > max(IN_LINE, WIDER * usual)))]
    letters, numbers = letters[order], numpy.cumsum(starts, dtype=int) - 1
    lines, unit = around(letters, numbers), units(letters, numbers, size)
    kept = numpy.maximum(*sides(lines)) >= DASH * size
    at_most(LINES, kept.sum(), "lines of text")
    lines, unit = lines[kept], unit[kept]
    for number in numpy.flatnonzero(sides(lines)[1] < numpy.minimum(LOW * size, FLAT * unit)):
        lines[number] = heightened(number, lines, size)
    return lines


def units(letters: Boxes, numbers: Numbers, size: int) -> Numbers:
    """Return the height of each group of letters or, if larger, their pitch; wide ones may be several that touch."""
    width, height = sides(around(letters, numbers))
    order = numpy.lexsort((letters[:, LEFT], numbers))
    starts, ends = (letters[order, side] + numbers[order] * 2**31 for side in (LEFT, RIGHT))
    apart = numpy.append(True, starts[1:] >= numpy.maximum.accumulate(ends)[:-1])[: len(order)]
    pitch = width / numpy.bincount(numbers[order[apart]])
    return numpy.maximum(height, numpy.minimum(pitch, numpy.maximum(2 * height, size)))


def gaps_of(row: Boxes, size: int) -> tuple[Numbers, Numbers]:
    """Return gaps between letters of a row, as shares of height or pitch: how much wider than usual, and how wide."""
    height, ends = numpy.ptp(row[:, [TOP, BOTTOM]]), numpy.maximum.accumulate(row[:, RIGHT])
    first = numpy.flatnonzero(numpy.append(True, row[1:, LEFT] >= ends[:-1]))
    wide = ends[numpy.append(first[1:], len(row)) - 1] - row[first, LEFT]
    letters = numpy.rint(wide / max(height, size / 2)).clip(1).sum()  # some touch
    unit = max(height, (ends[-1] - row[0, LEFT]) / letters)
    gaps, thin = (row[1:, LEFT] - ends[:-1]).clip(0), sides(row[1:])[0] < THIN * height
    usual = numpy.sort(numpy.append(gaps, 0))[len(gaps) // 2]
    return (gaps - min(usual, unit / 2)) / unit - THINNER * thin, gaps[gaps > 0] / unit


def heightened(number: int, lines: Boxes, size: int) -> tuple[int, int, int, int]:
    """Return a line of dots or dashes about as high as letters, as far as there is room."""
    left, top, right, bottom = lines[number].tolist()
    over = lines[(lines[:, LEFT] < right) & (lines[:, RIGHT] > left)]
    missing = max(0, round(ROW * size) - (bottom - top))
    highest = max(over[over[:, BOTTOM] <= top, BOTTOM].max(initial=0), top - missing * 2 // 3)
    return left, highest, right, min(over[over[:, TOP] >= bottom, TOP].min(initial=2**31), bottom + missing // 3)


def in_order(chosen: Numbers, boxes: Boxes) -> list[int]:
    """Return the numbers of the chosen lines in reading order: columns beside each other one after the other."""
    rows, columns = groups(chosen, boxes, TOP), groups(chosen, boxes, LEFT)
    starts = [boxes[column, LEFT].min(initial=2**31) for column in columns]
    several = sum(len(set(numpy.searchsorted(starts, boxes[row, LEFT], "right"))) > 1 for row in rows)
    beside_each_other = len(columns) > 1 and (len(rows) == 1 or several >= max(2, BESIDE * len(rows)))
    parts = columns if beside_each_other else blocks(rows, boxes)
    if len(parts) == 1:
        return list(chosen[boxes[chosen, TOP].argsort(kind="stable")])
    return [number for part in parts for number in in_order(part, boxes)]


def groups(chosen: Numbers, boxes: Boxes, axis: int) -> list[Numbers]:
    """Return the chosen lines in groups that do not overlap on an axis, LEFT or TOP."""
    chosen = chosen[boxes[chosen, axis].argsort(kind="stable")]
    ends = numpy.maximum.accumulate(boxes[chosen, axis + 2])
    return numpy.split(chosen, numpy.flatnonzero(boxes[chosen[1:], axis] >= ends[:-1]) + 1)


def blocks(rows: list[Numbers], boxes: Boxes) -> list[Numbers]:
    """Return rows, those together that the same gap runs through; the rows where this is all."""
    result = rows[:1]
    for row in rows[1:]:
        both = numpy.append(result[-1], row)
        together = min(len(groups(each, boxes, LEFT)) for each in (result[-1], both)) > 1
        result[-1:] = [both] if together else [result[-1], row]
    return result if len(result) > 1 else rows
