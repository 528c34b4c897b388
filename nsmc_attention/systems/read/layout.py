"""The boxes of the lines of text in a screenshot, whatever bubble, card or table they are in.

Ink begins where the gray of neighbouring pixels differs, whichever is darker. Its connected components are letters and their
parts, or edges of bubbles, rules and pictures. Parts are joined into words, and words into lines, by distance and overlap.
"""

from typing import NamedTuple

import numpy
from numpy.typing import NDArray
from scipy import ndimage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ...errors import DataError
from ...machine.aliases import Numbers
from .strips import Box, Gray, differences

# Within 2 x 2 pixels where ink begins, gray differs by EDGE, in a picture with noise by NOISY_EDGE, and by the share RINGING of
# the largest difference nearby. Noise is where differences from NOISE[0] to NOISE[1] are more than the share NOISY of larger ones
EDGE, NOISY_EDGE, RINGING, NOISE, NOISY = 12, 24, 0.3, (4, 16), 0.3
# Shares: a speck has less of a letter's square, and less of the strongest ink; of a photograph, more than MOST is ink
SPECK, FAINT, MOST = 0.1, 0.3, 0.85
# The height of letters in pixels where none is seen, and those of the lowest and highest letters
USUAL, LOWEST, HIGHEST = 12, 5, 250
# In heights of letters: strokes are STROKE thick, tags higher than LARGER, pictures than PICTURE, rules longer than RULE, thinner
# than THIN, lines longer than DASH; ASIDE an edge, gray differs at a share DIFFERENT; text is wider than TEXT of its tag
STROKE, LARGER, PICTURE, RULE, THIN, DASH, ASIDE, DIFFERENT, TEXT = 0.25, 1.1, 1.3, 5, 0.3, 0.5, 0.4, 0.75, 0.4
# As shares of a height: gaps in words and in lines; the least height of words of a line, and of letters of a word
IN_WORD, IN_LINE, ALIKE_WORDS, ALIKE = 0.6, 1.4, 0.45, 0.6
# Strokes of a letter above each other: the gap as a share of their height together, or of the larger one if together they are
# no higher than ONE_LETTER of it
STROKES, STACKED, ONE_LETTER = 0.05, 0.2, 1.2
# A line of dots, dashes or ㅋ is lower than LOW of the letters and FLAT of the distance between its own, and becomes ROW high;
# letters touch in ink wider than RUN of its height, and higher than FULL; a badge is shorter than BADGE of its height
LOW, FLAT, ROW, RUN, FULL, BADGE = 0.8, 0.7, 1.1, 1.6, 0.56, 4
# Columns have lines at the same height in such a share of rows, not the bubbles left and right in a chat
BESIDE = 0.2
# The most components, pairs of them at the same height, and lines, and how many pixels are enough to tell the height of letters. A
# screen of 1920 x 1080 full of small text has 15,776 components
COMPONENTS, PAIRS, LINES, SEEN = 2**15, 2**23, 2**11, 2**23
LEFT, TOP, RIGHT, BOTTOM = range(4)
Boxes = NDArray[numpy.int64]
Labels = NDArray[numpy.int32]
Mask = NDArray[numpy.bool_]


class Ink(NamedTuple):
    """The n components of ink in a picture; edges lie between pixels, so that there are (H + 1, W + 1) places of them.

    `boxes` (n, 4); `places` (p,) of the ink in the flattened picture, which has so many `columns`, and `numbers` (p,) of its
    components; `size`, the height of letters.
    """

    boxes: Boxes
    places: Numbers
    numbers: Numbers
    columns: int
    size: int


def find_lines(gray: Gray) -> list[Box]:
    """Return where the lines of text of a picture (H, W) are, in reading order."""
    if not gray.size:
        return []
    framed = numpy.pad(gray, 1, constant_values=int(numpy.bincount(gray[::3, ::3].ravel()).argmax()))
    contrast = contrast_of(framed)
    ink = ink_of(contrast)
    letters, edges = parted(ink, framed, contrast)
    lines = lines_of(ink.boxes[letters], ink.size, ink.places[edges[ink.numbers]], ink.columns)
    low = lines + (sides(lines)[1][:, None] // 8) * [0, 1, 0, -1]  # rows may overlap a little
    lines = lines.clip(0, [gray.shape[1], gray.shape[0]] * 2)
    return [within(gray, Box(*lines[number].tolist())) for number in in_order(numpy.arange(len(lines)), low)]


def within(gray: Gray, box: Box) -> Box:
    """Return the box of a line; in a badge that is no higher than a line, as wide as its letters."""
    left, top, right, bottom = box
    if not 2 * LOWEST < bottom - top < right - left < BADGE * (bottom - top):
        return box
    own, row = gray[top:bottom, left:right], gray[(top + bottom) // 2]
    ink, third = differences(own), (right - left) // 3
    around = numpy.abs(row[[max(0, left - 3), min(len(row), right + 3) - 1]] - numpy.median(own))
    if 2 * min(around.min(), ink.max() - ink[[1, -2], third:-third].max()) < ink.max():
        return box
    labels, _ = ndimage.label(2 * ink > ink.max())
    labels *= ~numpy.isin(labels, labels[:, [0, -1]])
    columns = numpy.flatnonzero(labels.any(axis=0))
    return box._replace(left=left + int(columns[0]), right=left + int(columns[-1]) + 1) if len(columns) else box


def contrast_of(gray: Gray) -> Gray:
    """Return how much gray differs within each 2 x 2 pixels."""
    rows = [extreme(gray[:-1], gray[1:]) for extreme in (numpy.maximum, numpy.minimum)]
    highest, lowest = numpy.maximum(rows[0][:, :-1], rows[0][:, 1:]), numpy.minimum(rows[1][:, :-1], rows[1][:, 1:])
    return numpy.subtract(highest, lowest, out=highest)


def begins(contrast: Gray) -> Mask:
    """Return where ink begins or ends."""
    faint, seen = ((contrast[::2, ::2] >= least).sum() for least in NOISE)
    if faint - seen <= NOISY * seen:
        return contrast >= EDGE
    # JPEG spreads a letter's edge over the block of 8 x 8 pixels that it is in
    rows, columns = contrast.shape
    blocks = numpy.pad(contrast, ((0, -rows % 8), (0, -columns % 8))).reshape(-(-rows // 8), 8, -1, 8).max(axis=(1, 3))
    least = numpy.maximum(NOISY_EDGE, numpy.ceil(RINGING * blocks)).astype("uint8")
    return contrast >= least.repeat(8, axis=0).repeat(8, axis=1)[:rows, :columns]


def components(mask: Mask) -> tuple[Labels, Boxes]:
    """Return the number of the component at each place, 0 for none, and the components' boxes; DataError for too many."""
    labels, count = ndimage.label(mask, numpy.ones((3, 3)))
    if count > COMPONENTS:
        expected = f"expected at most {COMPONENTS:,} separate marks, as of dense text, found {count:,}"
        raise DataError(f"picture: {expected}; cut out the part with text")
    places = [(x.start, y.start, x.stop - 1, y.stop - 1) for y, x in ndimage.find_objects(labels)]
    return labels, numpy.array(places, "int64").reshape(-1, 4)


def ink_of(contrast: Gray) -> Ink:
    """Return the components of ink, with the insides of strokes."""
    mask = begins(contrast)
    mask &= mask.mean() <= MOST
    # a part is enough to see how high letters are
    width, height = sides(components(mask[: SEEN // mask.shape[1] + 1])[1])
    heights = height[(height >= LOWEST) & (height <= HIGHEST) & (width < 4 * height)]
    size = int(numpy.percentile(heights, 85)) if len(heights) else USUAL
    labels, boxes = components(filled(mask, max(2, round(STROKE * size) - 1)))
    places = numpy.flatnonzero(labels)
    return Ink(boxes, places, labels.ravel()[places] - 1, labels.shape[1], size)


def filled(mask: Mask, width: int) -> Mask:
    """Return a mask of edges with the spaces between them that are nowhere `width` pixels wide and high: insides of strokes."""
    spaces, count = ndimage.label(~mask)
    rows, columns = (side // width * width for side in mask.shape)
    edged = mask[:rows, :columns].reshape(rows // width, width, columns // width, width).any(axis=(1, 3))
    narrow = numpy.ones(count + 1, bool)
    narrow[spaces[:rows:width, :columns:width][~edged]] = False
    return narrow[spaces]


def sides(boxes: Boxes) -> tuple[Numbers, Numbers]:
    """Return the widths and heights of boxes."""
    return boxes[:, RIGHT] - boxes[:, LEFT], boxes[:, BOTTOM] - boxes[:, TOP]


def parted(ink: Ink, framed: Gray, contrast: Gray) -> tuple[Mask, Mask]:
    """Return which components may be of letters, and which are the edges of something else."""
    size, (width, height) = ink.size, sides(ink.boxes)
    shorter, longer = numpy.minimum(width, height), numpy.maximum(width, height)
    areas = numpy.bincount(ink.numbers, minlength=len(width))
    strongest = numpy.zeros(len(width), "uint8")
    numpy.maximum.at(strongest, ink.numbers, contrast.ravel()[ink.places])
    specks = (areas <= SPECK * size**2) & ((strongest < FAINT * strongest.max(initial=0)) | (shorter == 0))
    rules = (longer > RULE * size) & ((shorter <= max(2, THIN * size)) | (areas < 2 * (width + height)))
    edges = rules | (shorter == 0) | (height > HIGHEST)
    large = ~edges & (height > PICTURE * size)
    outlines = ~edges & (longer > size) & (areas < 3 * (width + height))
    edges |= between_grays(ink, framed, large | outlines)
    for number in numpy.flatnonzero((height > LARGER * size) & ~edges & (areas < 8 * (width + height))):
        inner = ink.boxes[inside(ink.boxes, ink.boxes[number]) & ~specks]
        shifts = inner[:, [TOP, BOTTOM]].sum(axis=1) - ink.boxes[number, [TOP, BOTTOM]].sum()
        wide = len(inner) and (large[number] or numpy.ptp(inner[:, [LEFT, RIGHT]]) > TEXT * width[number])
        edges[number] = wide and (len(inner) > 1 or (numpy.abs(shifts) < height[number] / 4).any())
    letters = ~(edges | specks)
    edges |= letters & large & alone(ink.boxes, letters)
    return letters & ~edges, edges & ~specks


def alone(boxes: Boxes, letters: Mask) -> Mask:
    """Return which boxes have no letter of about their height beside them."""
    height = numpy.where(letters, sides(boxes)[1], -1)
    first, second, _ = beside(boxes, IN_WORD * height)
    alike = letters[first] & (height[second] >= ALIKE * height[first])
    return ~numpy.isin(numpy.arange(len(boxes)), numpy.append(first[alike], second[alike]))


def between_grays(ink: Ink, framed: Gray, chosen: Mask) -> Mask:
    """Return which of the chosen components have another gray on each side, as the edge of a bubble has, unlike a stroke."""
    places, numbers = (each[chosen[ink.numbers]] for each in (ink.places, ink.numbers))
    every = len(places) // 2**16 + 1
    middle = numpy.array(numpy.divmod(places[::every], ink.columns))
    corners = [framed[middle[0] + y, middle[1] + x].astype("float32") for y in (0, 1) for x in (0, 1)]
    first, second, third, last = corners
    slopes = numpy.array([third + last - first - second, second + last - first - third])
    slopes *= ink.size * ASIDE / numpy.maximum(1, numpy.hypot(*slopes))
    limits = numpy.array(framed.shape)[:, None] - 1
    one, other = (
        framed[tuple(numpy.rint(middle + 0.5 + aside).astype("int64").clip(0, limits))].astype("float32")
        for aside in (slopes, -slopes)
    )
    differ = numpy.abs(one - other) > (numpy.max(corners, axis=0) - numpy.min(corners, axis=0)) / 2
    yes, all_ = (numpy.bincount(numbers[::every], votes, len(chosen)) for votes in (differ, None))
    return yes > DIFFERENT * all_


def inside(boxes: Boxes, box: Numbers) -> Mask:
    """Return which boxes are in another one, apart from its edges."""
    result: Mask = ((boxes[:, : TOP + 1] > box[:RIGHT]) & (boxes[:, RIGHT:] < box[RIGHT:])).all(axis=1)
    return result


def beside(boxes: Boxes, reach: Numbers, axis: int = LEFT) -> tuple[Numbers, Numbers, Numbers]:
    """Return pairs of boxes beside each other, or with the axis TOP above: the second in reach of the first; and their gaps."""
    across = TOP - axis
    middles = boxes[:, across] + boxes[:, across + 2]
    order = middles.argsort(kind="stable")
    starts = numpy.searchsorted(middles[order], 2 * boxes[:, across])
    counts = numpy.searchsorted(middles[order], 2 * boxes[:, across + 2], "right") - starts
    if counts.sum() > PAIRS:
        raise DataError("picture: expected text, found too many marks beside each other; cut out the part with text")
    first = numpy.arange(len(boxes)).repeat(counts)
    second = order[numpy.arange(len(first)) + (starts - counts.cumsum() + counts).repeat(counts)]
    gaps = numpy.maximum(boxes[second, axis] - boxes[first, axis + 2], boxes[first, axis] - boxes[second, axis + 2])
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


def united(boxes: Boxes, first: Numbers, second: Numbers) -> Boxes:
    """Return the boxes around those that pairs connect."""
    pairs = coo_array((numpy.ones(len(first), bool), (first, second)), shape=(len(boxes), len(boxes)))
    count, groups = connected_components(pairs, directed=False)
    result = numpy.repeat([[2**31] * 2 + [0] * 2], count, axis=0)
    for side in range(4):
        (numpy.minimum if side < RIGHT else numpy.maximum).at(result[:, side], groups, boxes[:, side])
    return result


def crossed(boxes: Boxes, first: Numbers, second: Numbers, edges: Numbers, columns: int) -> Mask:
    """Return between which pairs of boxes there are some of the edges, places in order in a picture of so many columns."""
    row = (boxes[second, TOP] + boxes[second, BOTTOM]) // 2 * columns
    start = row + numpy.minimum(boxes[first, RIGHT], boxes[second, RIGHT])
    end = row + numpy.maximum(boxes[first, LEFT], boxes[second, LEFT])
    return numpy.searchsorted(edges, end) > numpy.searchsorted(edges, start)


def lines_of(letters: Boxes, size: int, edges: Numbers, columns: int) -> Boxes:
    """Return the lines of letters and their parts; `edges` are places in order in a picture of so many columns."""
    width, height = sides(letters)
    reach = IN_WORD * numpy.maximum(numpy.maximum(height, numpy.minimum(width, size)), size / 2)
    first, second, _ = beside(letters, reach)
    kept = ~crossed(letters, first, second, edges, columns)
    lines = united(letters, *map(numpy.append, (first[kept], second[kept]), above(letters, size)))
    for _ in range(2):  # again, for what is beside a dash
        _, height = sides(lines)
        first, second, gaps = beside(lines, IN_LINE * height)
        kept = (height[second] >= ALIKE_WORDS * height[first]) | (gaps <= IN_WORD * height[first])
        kept &= ~crossed(lines, first, second, edges, columns)
        lines = united(lines, first[kept], second[kept])
    lines = united(lines, *above(lines))
    lines = lines[numpy.max(sides(lines), axis=0, initial=0) >= DASH * size]
    if len(lines) > LINES:
        expected = f"expected at most {LINES:,} lines of text, found {len(lines):,}"
        raise DataError(f"picture: {expected}; cut out the part with text")
    for number in numpy.flatnonzero(sides(lines)[1] < LOW * size):
        own = letters[inside(letters, lines[number] + numpy.array([-1, -1, 1, 1]))]
        if is_low(own[own[:, LEFT].argsort()], size):
            lines[number] = heightened(number, lines, size)
    return lines


def is_low(letters: Boxes, size: int) -> bool:
    """Return whether a line of letters, from left to right, has low ones alone, such as dots and dashes, ㅋ and ^."""
    width, height = sides(letters)
    pitch = max(float(numpy.median(each)) for each in (width, numpy.diff(letters[:, LEFT])) if len(each))
    several = (width > RUN * height) & (height > FULL * size)
    return not several.any() and letters[:, BOTTOM].max() - letters[:, TOP].min() < FLAT * pitch


def heightened(number: int, lines: Boxes, size: int) -> tuple[int, int, int, int]:
    """Return a line of dots or dashes about as high as letters, as far as there is room."""
    left, top, right, bottom = lines[number].tolist()
    over = lines[(lines[:, LEFT] < right) & (lines[:, RIGHT] > left)]
    missing = max(0, round(ROW * size) - (bottom - top))
    highest = max(over[over[:, BOTTOM] <= top, BOTTOM].max(initial=0), top - missing * 2 // 3)
    return left, highest, right, min(over[over[:, TOP] >= bottom, TOP].min(initial=2**31), bottom + missing // 3)


def in_order(chosen: Numbers, boxes: Boxes) -> list[int]:
    """Return the numbers of the chosen lines in reading order: columns that are beside each other one after the other."""
    if len(chosen) < 2:
        return list(chosen)
    rows, columns = groups(chosen, boxes, TOP), groups(chosen, boxes, LEFT)
    starts = [boxes[column, LEFT].min() for column in columns]
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
        if min(len(groups(each, boxes, LEFT)) for each in (result[-1], both)) > 1:
            result[-1] = both
        else:
            result.append(row)
    return result if len(result) > 1 else rows
