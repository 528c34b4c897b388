"""The ink of a screenshot, and the panels that it is on: bubbles, cards, frames and pictures.

A region's most frequent gray is its background, and what differs from it is ink. Large components of ink that are filled or
are frames are regions of their own, with their own background. A photograph has no ink.
"""

from collections.abc import Iterator
from typing import NamedTuple, Optional

import numpy
from numpy.typing import NDArray
from scipy import ndimage

from ...errors import DataError
from ...machine.aliases import Numbers
from .strips import Gray

# Ink differs at least so much from the background: the rarest difference of this range, which no flat color has
DIFFERENCES = 24, 42
# JPEG changes a flat gray by so much, and leaves at least this share of a panel's box as it was
NOISE, NOISY = 3, 0.5
# (grays, share): of so many grays beside the most frequent one, the share that a picture must have, or it is a photograph;
# PLAIN_AREAS is of a panel that is as small as the picture of a person
MIXED, PLAIN_AREAS = (12, 0.15), (5, 0.45)
# Of what is much like the background or another flat color of a large picture, the least share that is even more so
EVEN = 0.55
# A panel's gray may be nearer to the background if such a share has it, in parts so many pixels wide
FLAT, BROAD = 0.01, 5
# The least sides in pixels of a panel, of a frame (width, height) and of what is no letter at all
PANEL, FRAME, NO_LETTER = 20, (40, 20), 90
# The least share of a panel's box that is inside its outline, of that which is ink, and the largest that is a frame's
SOLID, FILLED_SHARE, THIN = 0.75, 0.7, 0.3
# Pixels: a component of this length is longer than any letter; the most that a frame is wide with its shadow
LONG_EDGE, THICKEST = 60, 8
# The least sides of the hole of a letter, as shares of the letter's, and the least share of a picture that is ink
HOLE, WHOLE = 0.2, 0.85
# Panels within panels that are looked into
DEPTH = 5
# The least height of a letter, that of letters where none is seen (pixels), and how many are enough to tell a region's
LETTER_SIZES, USUAL, ENOUGH = 5, 12, 40
# Ink differs by a larger share of what the strongest does, or has a larger area as a share of a letter's square
FAINT_EDGE, SPECK = 0.3, 0.06
# The most components of a region: each takes time to read. A screen of 1920 x 1080 full of small text has 15,776, the densest of the
# benchmark's screenshots 1,206
COMPONENTS = 2**15
# The columns of Items
LEFT, TOP, RIGHT, BOTTOM, AREA, NUMBER = range(6)
# Components, (n, 6): left, top, right, bottom, area in pixels, 1 + the number of a panel or 0 for ink
Items = NDArray[numpy.int64]
Mask = NDArray[numpy.bool_]


class Region(NamedTuple):
    """A panel or the whole picture: where it is, its ink (H, W), the components of it, and the panels in it.

    Ink is how much a pixel differs from the background, 0 for what does not.
    """

    left: int
    top: int
    ink: Gray
    items: Items
    panels: list["Region"]


def region_of(
    gray: Gray, color: Optional[int] = None, gone: int = 0, corner: tuple[int, int] = (0, 0), depth: int = DEPTH
) -> Region:
    """Return the components and panels of a picture (H, W), none for a photograph.

    `color` is its background where that is known, and `gone` pixels of it are not its own; `corner` is its left and top.
    """
    left, top = corner
    counts = smooth(numpy.bincount(gray.ravel(), minlength=256))
    if is_photograph(gray, counts, gone, depth < DEPTH):
        return Region(left, top, numpy.zeros_like(gray), numpy.empty((0, 6), "int64"), [])
    ink, flat = ink_of(gray, counts, color)
    labels, items, slices = components(ink > 0 if flat is None else (ink > 0) | flat)
    panels: list[Region] = []
    found: list[Items] = []
    for index in candidates(items) if depth else ():
        place = slices[index]
        own = labels[place] == index + 1
        inside = outline(own) if own.any() else own
        if is_panel(items[index], inside, labels[place]):
            corner = left + items[index, LEFT], top + items[index, TOP]
            panel = region_of(*panel_gray(gray[place], own, inside), corner, depth - 1)
            if is_letter(panel, items[index, AREA] > WHOLE * inside.sum()):
                continue
            panels.append(panel)
            items[index, NUMBER] = len(panels)
            found.append(items[index : index + 1])
            labels[place][inside] = 0
    ink[labels == 0] = 0
    if flat is not None:
        labels, items, _ = components(ink > 0)
    return Region(left, top, ink, numpy.concatenate([clear(items, labels, ink), *found]), panels)


def clear(items: Items, labels: NDArray[numpy.int32], ink: Gray) -> Items:
    """Return the components that are still in a picture of their numbers (H, W), without noise, which is small and faint."""
    left = numpy.bincount(labels[labels > 0], minlength=len(items) + 1)[1:]
    strong = numpy.bincount(labels[ink > FAINT_EDGE * ink.max(initial=0)], minlength=len(items) + 1)[1:]
    return items[(left > SPECK * size_of(items, USUAL) ** 2) | (strong > 0)]


def components(mask: Mask) -> tuple[NDArray[numpy.int32], Items, list[tuple[slice, slice]]]:
    """Return the number of each pixel's component, 0 for none (H, W), the components, and their places in the mask."""
    labels, count = ndimage.label(mask, numpy.ones((3, 3)))
    if count > COMPONENTS:
        expected = f"expected at most {COMPONENTS:,} separate marks, as of dense text, found {count:,}"
        raise DataError(f"picture: {expected}; cut out the part with text")
    places = ndimage.find_objects(labels)
    items = numpy.array([(x.start, y.start, x.stop, y.stop, 0, 0) for y, x in places], "int64").reshape(-1, 6)
    items[:, AREA] = numpy.bincount(labels[mask], minlength=count + 1)[1:]
    return labels, items, places


def is_photograph(gray: Gray, counts: NDArray[numpy.float64], gone: int, inner: bool) -> bool:
    """Return whether few pixels (H, W) are as the background, `gone` of them aside, or most of it varies.

    `counts` (256,) is how many pixels have each gray; `inner` is of a panel.
    """
    small, own = min(gray.shape) < NO_LETTER, int(counts.argmax())
    differences = numpy.abs(numpy.arange(256) - own)
    near, share = PLAIN_AREAS if inner and small else MIXED
    if counts[differences <= near].sum() - gone < share * (gray.size - gone):
        return True
    calm = (differences <= NOISE + 1) | flat_grays(counts, own)
    alike = calm | (differences < DIFFERENCES[0])
    return bool(not small and counts[calm].sum() - gone < EVEN * (counts[alike].sum() - gone))


def ink_of(gray: Gray, counts: NDArray[numpy.float64], color: Optional[int]) -> tuple[Gray, Optional[Mask]]:
    """Return how much the ink of a picture (H, W) differs, 0 elsewhere, and what may be of a panel, None for nothing.

    `counts` (256,) is how many pixels have each gray, and `color` the background, None for the most frequent one.
    """
    own = int(counts.argmax()) if color is None else color
    differences = numpy.abs(numpy.arange(256) - own)
    first, last = DIFFERENCES
    least = first + int(smooth(numpy.bincount(differences, counts, 256))[first:last].argmin())
    flat = flat_grays(counts, own) & (differences <= least)
    ink: Gray = numpy.where(differences > least, differences, 0).astype("uint8")[gray]
    broad = opened(flat[gray]) if flat.any() else None
    return ink, broad if broad is not None and broad.any() else None


def smooth(counts: Numbers) -> NDArray[numpy.float64]:
    """Return how many pixels have each gray (256,), or one beside it."""
    return numpy.convolve(counts, (0.33, 0.34, 0.33), "same")


def flat_grays(counts: NDArray[numpy.float64], own: int) -> Mask:
    """Return which grays (256,) many pixels have, but fewer those between them and the background: those of panels."""
    valleys = numpy.concatenate(
        [numpy.minimum.accumulate(counts[own::-1])[::-1], numpy.minimum.accumulate(counts[own + 1 :])]
    )
    flat = (counts >= FLAT * counts.sum()) & (valleys < counts / 2)
    return numpy.convolve(flat, numpy.ones(2 * NOISE + 1), "same") > 0


def opened(mask: Mask) -> Mask:
    """Return the parts of a mask (H, W) that are `broad` pixels wide and high, specks of noise in them aside."""
    height, width = mask.shape
    even = numpy.pad(mask, ((0, height % 2), (0, width % 2))).view("uint8")
    # at half the size, with any of four pixels
    half = even[::2, ::2] | even[1::2, ::2] | even[::2, 1::2] | even[1::2, 1::2]
    for extreme in (ndimage.minimum_filter1d, ndimage.maximum_filter1d):
        for axis in (0, 1):
            half = extreme(half, BROAD // 2 + 1, axis)
    return half.repeat(2, axis=0).repeat(2, axis=1)[:height, :width].view("bool")


def candidates(items: Items) -> NDArray[numpy.int64]:
    """Return the indices of components that may be panels, the largest first."""
    width, height = (items[:, end] - items[:, start] for start, end in ((LEFT, RIGHT), (TOP, BOTTOM)))
    share = items[:, AREA] / (width * height)
    filled = (width >= PANEL) & (height >= PANEL) & (share >= SOLID * NOISY)
    framed = (width >= FRAME[0]) & (height >= FRAME[1]) & (share < THIN)
    large = (width >= NO_LETTER) & (height >= NO_LETTER)
    chosen = numpy.flatnonzero(filled | framed | large)
    return chosen[numpy.argsort(-(width * height)[chosen], kind="stable")]


def outline(own: Mask) -> Mask:
    """Return a component's pixels (H, W) with its holes filled, and the bays of a long one, where JPEG has broken it."""
    if max(own.shape) >= LONG_EDGE:
        own = ndimage.maximum_filter(own, BROAD)
    labels, _ = ndimage.label(numpy.pad(~own, 1, constant_values=True))
    return labels[1:-1, 1:-1] != labels[0, 0]


def is_panel(item: Items, inside: Mask, labels: NDArray[numpy.int32]) -> bool:
    """Return whether a component with these pixels inside its outline (H, W) is a bubble, card, frame or picture."""
    pixels = int(inside.sum())
    height, width = inside.shape
    if not pixels or min(height, width) >= NO_LETTER:
        return pixels > 0
    if pixels < SOLID * inside.size:
        return False
    share = (labels[inside] > 0).sum() / pixels
    if share >= (FILLED_SHARE if max(height, width) < LONG_EDGE else NOISY):
        return True
    # the ring of a letter has nothing in it
    return bool(item[AREA] < THIN * pixels) and numpy.unique(labels[inside]).size > 2


def panel_gray(gray: Gray, own: Mask, inside: Mask) -> tuple[Gray, int, int]:
    """Return a panel (H, W) as a picture of its own, its background, and how many pixels of its edge or a frame became it."""
    edge = BROAD - 1 if max(own.shape) >= LONG_EDGE else BROAD // 2
    gone = ~ndimage.minimum_filter(inside, 2 * edge + 1, mode="constant")
    frame = own.sum() < min(THIN * inside.sum(), 2 * THICKEST * sum(own.shape))
    if frame:
        gone |= own
    color = int(smooth(numpy.bincount(gray[~gone] if frame else gray[own], minlength=256)).argmax())
    return numpy.where(gone, numpy.uint8(color), gray), color, int(gone.sum())


def is_letter(panel: Region, solid: bool) -> bool:
    """Return whether a panel is a bold letter, whose holes are large and solid, such as those of ㅁ, not that of a picture."""
    rows, columns = panel.ink.shape
    if min(rows, columns) >= NO_LETTER:
        return False
    width, height = panel.items[:, RIGHT] - panel.items[:, LEFT], panel.items[:, BOTTOM] - panel.items[:, TOP]
    holes = (panel.items[:, AREA] > width * height / 2) & (height > HOLE * rows)
    return bool(holes.all() and width.sum() > HOLE * columns) if len(holes) else not solid


def regions(region: Region) -> Iterator[Region]:
    """Yield a region and all in it."""
    yield region
    for panel in region.panels:
        yield from regions(panel)


def size_of(items: Items, usual: int) -> int:
    """Return the height of the higher letters in pixels, at least `usual` where there are few."""
    heights = (items[:, BOTTOM] - items[:, TOP])[items[:, NUMBER] == 0]
    heights = heights[(heights >= LETTER_SIZES) & (heights < NO_LETTER)]
    if not len(heights):
        return usual
    high = int(numpy.percentile(heights, 90))
    return high if len(heights) >= ENOUGH else max(usual, high)
