"""`read`: pictures in, the lines of text on them out, with where each letter was read."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from math import exp
from pathlib import Path
from typing import Optional, Union

import numpy
from numpy.typing import NDArray

from ...engines.graphs import DeviceName, EngineName
from ...errors import ConfigError
from ...machine.aliases import Numbers, Record
from ...machine.processes import in_threads
from ...scoring.reference import Predictor
from ..sequences.characters import BEGIN, END
from ..sequences.search import Hypothesis, State, search
from .decoding import MOST_STRIPS, Letters, ReaderEngine, ctc_log_probability, ctc_path, forced, load_reader_engine
from .layout import around, find_lines
from .opening import Picture, open_gray
from .reading import Line, Reading, edges_of
from .settings import HEIGHT, LAYOUT, STRIP, ReaderBundle
from .strips import EDGE_SPACE, Box, Gray, cut_out, padded, strips

# Lines that are read together, and pixels of the highest line
LINES_A_BATCH, HIGHEST = 16, 200
# Weight of CTC's opinion beside the decoder's; chosen on the dev part (`python -m benchmarks.reading dev`)
CTC_WEIGHT = 0.3
# Score below which a line is read again; edges for low letters, and for digits in a badge, shorter than BADGE of its height
READ_AGAIN, TALLER, LOWER, BADGE = 0.75, (EDGE_SPACE, 0.25) * 2, (EDGE_SPACE, -0.3, EDGE_SPACE, -0.15), 3
# Parts, at most, into which a picture of a letter or two may have been cut
FEW_PARTS = 6
# The search ends at so many letters for each that CTC reads, and more
TIMES, WIDER_STRIPS = 1.3, 6


class PictureReader(Predictor):
    """A bundle of the task `read` and the engine that runs it.

    `ctc` is the weight of CTC's opinion, 0 to 1; with 0 the decoder answers alone, whose search is greedy.
    """

    layout, load_engine = LAYOUT, staticmethod(load_reader_engine)

    def __init__(self, bundle: ReaderBundle, engine: ReaderEngine, ctc: float = CTC_WEIGHT):
        super().__init__(bundle, engine)
        if not 0 <= ctc <= 1:
            raise ConfigError(f"ctc: expected a weight from 0 to 1, found {ctc!r}")
        self.letters: Letters = bundle.codec
        self.ctc = ctc

    @property
    def options(self) -> Record:
        return {"ctc": self.ctc}

    def __call__(self, picture: Picture) -> Reading:
        """Return the Reading of a picture: a path, bytes, an array (height, width[, 3 or 4]) of uint8 or a PIL image.

        DataError where it is no picture, damaged or too large.
        """
        return self.read_gray(open_gray(picture))

    def read_gray(self, gray: Gray) -> Reading:
        """Return the Reading of gray pixels (height, width)."""
        boxes = find_lines(gray)
        lines = self.read_boxes(gray, list(filter(is_readable, boxes)))
        # low letters (ㅋㅋㅋ) fill a box that is too low, and digits in a badge leave one empty: more or less above and below may help
        doubtful = [line.box for line in lines if line.score < READ_AGAIN]
        short = [box for box in doubtful if box.right - box.left < BADGE * (box.bottom - box.top)]
        again = self.read_boxes(gray, doubtful, TALLER) + self.read_boxes(gray, short, LOWER)
        best = {line.box: line for line in sorted([*lines, *again], key=lambda one: one.score)}
        if whole := self.whole(gray, [best[box] for box in boxes if box in best]):
            return Reading((whole,), gray, tuple(box for box in boxes if box not in best))
        legible = {line.box: best[line.box] for line in lines if best[line.box].legible}
        return Reading(tuple(legible.values()), gray, tuple(box for box in boxes if box not in legible))

    def whole(self, gray: Gray, parts: Sequence[Line]) -> Optional[Line]:
        """Return the line of a picture of a letter or two that the layout took apart (ㅇ, ㅡ and ㅇ of 응), else None."""
        if not 1 < len(parts) <= FEW_PARTS:
            return None
        box = Box(*around(numpy.array([part.box for part in parts]), numpy.zeros(len(parts), int))[0].tolist())
        if not is_readable(box) or box.right - box.left >= BADGE * (box.bottom - box.top):
            return None
        best = max([*self.read_boxes(gray, [box]), *self.read_boxes(gray, [box], TALLER)], key=lambda one: one.score)
        return best if best.legible and best.score > max(READ_AGAIN, *(part.score for part in parts)) else None

    def read_boxes(self, gray: Gray, boxes: Sequence[Box], edges: Sequence[float] = (EDGE_SPACE,) * 4) -> list[Line]:
        """Return the line in each box of a picture; lines of similar length are read together."""
        cut = [cut_out(gray, box, edges) for box in boxes]
        pictures = [strips(own) for own, _ in cut]
        order = sorted(range(len(boxes)), key=lambda number: len(pictures[number]))
        batches = [order[start : start + LINES_A_BATCH] for start in range(0, len(order), LINES_A_BATCH)]
        parts = [[pictures[i] for i in batch] for batch in batches]
        spelt = dict(zip(order, chain.from_iterable(in_threads(self.engine.threads, self.spell, parts))))
        return [self.line(spelt[i], boxes[i], own.shape[0], left) for i, (own, left) in enumerate(cut)]

    def line(self, best: Hypothesis, box: Box, height: int, left: int) -> Line:
        """Return the line of a hypothesis, whose picture was `height` pixels high and began at `left`."""
        text = self.letters.text(best.ids)
        inside = slice(len(text) - len(text.lstrip()), len(text.rstrip()))
        edges = edges_of(best.weights.shape[1], left, HEIGHT / height)
        return Line(text[inside], box, exp(best.score / (len(text) + 1)), best.weights[inside], edges)

    def spell(self, pictures: Sequence[NDArray[numpy.float32]]) -> list[Hypothesis]:
        """Return the text of each line's strips, with the decoder's log-probability as score."""
        source, state, parts = self.engine.begin(*padded(pictures))
        by_ctc = [ctc_path(own[: len(picture)], self.letters) for own, picture in zip(parts, pictures)]
        longest = [int(len(ids) * TIMES) + WIDER_STRIPS for ids in by_ctc]
        found = search(self.engine.step, source, state, BEGIN, END, longest, 1, alpha=0.0)
        best = []
        for number, ((first,), ids, picture) in enumerate(zip(found, by_ctc, pictures)):
            one = slice(number, number + 1)
            own = [array[one] for array in source], [array[one] for array in state]
            best.append(cropped(self.choose(first, ids, parts[number, : len(picture)], own), len(picture)))
        return best

    def choose(self, first: Hypothesis, ids: list[int], parts: Numbers, own: tuple[State, State]) -> Hypothesis:
        """Return the likelier reading by decoder and CTC: the decoder's (`first`) or CTC's (`ids`), with the score of both."""
        if not self.ctc or list(first.ids) == ids:
            return first
        hypotheses = first, forced(self.engine.step, *own, ids)
        of_ctc = [ctc_log_probability(parts, hypothesis.ids, self.letters) for hypothesis in hypotheses]
        both = [(1 - self.ctc) * one.score + self.ctc * other for one, other in zip(hypotheses, of_ctc)]
        best = numpy.argmax(both)
        return replace(hypotheses[best], score=both[best])


def is_readable(box: Box) -> bool:
    """Return whether a line is short enough to be read at once, and no higher than letters on a screen."""
    height = box.bottom - box.top
    return height <= HIGHEST and (box.right - box.left + height) * HEIGHT < MOST_STRIPS * STRIP * height


def cropped(hypothesis: Hypothesis, length: int) -> Hypothesis:
    """Return a hypothesis with weights (T, S) of the strips of its line alone."""
    weights = numpy.array([own[:length] for own in hypothesis.weights], "float32")
    return replace(hypothesis, weights=weights.reshape(-1, length))


def load_reader(
    bundle: Optional[Union[str, Path]] = None, engine: EngineName = "auto", device: DeviceName = "auto"
) -> PictureReader:
    """Load a reader from a bundle folder, None is the packaged one; other arguments and errors are `load_classifier`'s."""
    return PictureReader.load(bundle, engine, device)


packaged_reader = lru_cache(maxsize=1)(load_reader)


def read(picture: Picture) -> Reading:
    """Return the Reading of a picture by the packaged reader, loaded once.

    The picture is a path, the bytes of a file, an array (height, width) or (height, width, 3 or 4) of uint8, or an image
    of PIL. DataError where it is none, damaged or too large.
    """
    return packaged_reader()(picture)
