"""`read`: pictures in, the lines of text on them out, with where each letter was read."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, groupby
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
from .layout import find_lines, framed_contrast
from .opening import Picture, open_gray
from .reading import SURE, SURER, Line, Reading, edges_of
from .rules import without_rules
from .settings import HEIGHT, LAYOUT, STRIP, ReaderBundle
from .strips import EDGE_SPACE, Box, Gray, around, cut_out, ink, padded, strips

LINES_A_BATCH, HIGHEST = 16, 200  # Lines that are read together, and pixels of the highest line
# Weight of CTC's opinion beside the decoder's; chosen on the dev part (`python -m benchmarks.reading dev`)
CTC_WEIGHT = 0.3
# How doubtful lines are read again: below a score and shorter than so many heights, with edges, taken from a score on
# if the text is of these letters. Low letters (ㅋㅋ) have a box that is too low, digits in a badge one that is too high
LOW, LOWER, HIGH = (EDGE_SPACE, 0.25) * 2, (0.3, 0.4, 0.3, 0.3), (EDGE_SPACE, -0.3, EDGE_SPACE, -0.15)
AGAIN = (0.75, 1e9, LOW, 0, ".*"), (0.75, 3, HIGH, 0, ".*"), (0.85, 6, LOWER, SURER, "[ㄱ-ㅣ ]+")
# A letter or two are shorter than FEW heights, and may have been cut into FEW_PARTS; from INK on gray is ink between words
FEW, FEW_PARTS, INK = 3, 6, 100
# A letter or sign alone between spaces, which may be an icon; a space between two consonants or vowels alone
ALONE = re.compile(r"(?<!\S)(?:[^\W\d_가-힣]|[ↀ-⛿×÷※℃№₩°^])(?!\S)")
SPACE = re.compile(r"(?<![^ ][ㄱ-ㅣ])(?<=[ㄱ-ㅣ]) (?=[ㄱ-ㅣ](?!\S))")
# Least probabilities of signs alone that icons are read as, and of others
SIGNS, SIGN = {"□": SURER, **dict.fromkeys("☆★♡♥○↓℃№₩°^", SURE)}, 0.4
TIMES, WIDER_STRIPS = 1.3, 6  # The search ends at so many letters for each that CTC reads, and more


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
        clear = without_rules(gray, contrast := framed_contrast(gray))
        boxes = find_lines(clear, contrast if clear is gray else None)
        lines = self.read_boxes(clear, list(filter(is_readable, boxes)))
        best = {line.box: line for line in lines}
        for below, widest, edges, least, letters in AGAIN:
            doubtful = [line.box for line in lines if line.score < below and breadth(line.box) < widest]
            again = [line for line in self.read_boxes(clear, doubtful, edges) if re.fullmatch(letters, line.text)]
            best.update({line.box: line for line in again if line.score >= max(least, best[line.box].score)})
        if whole := self.whole(clear, [best[box] for box in boxes if box in best]):
            return Reading((whole,), gray, tuple(box for box in boxes if box not in best))
        lines = [part for box in boxes if box in best for part in self.parts(clear, best[box])]
        unread = [box for box in boxes if box not in best] + [line.box for line in lines if not line.legible]
        return Reading(tuple(line for line in lines if line.legible), gray, tuple(unread))

    def parts(self, gray: Gray, line: Line) -> list[Line]:
        """Return a line, in parts if letters alone in it are icons, which are illegible by themselves."""
        words = words_of(gray, line) if ALONE.search(line.text) and " " in line.text else []
        alone = [box for box, word in zip(words, line.text.split(" ")) if ALONE.fullmatch(word)]
        icons = {
            one.box
            for one in self.read_boxes(gray, alone)
            if one.score < SIGNS.get(one.text, SURE if one.text.isalpha() else SIGN)
        }
        groups = [list(boxes) for _, boxes in groupby(words, icons.__contains__)]
        parts = self.read_boxes(gray, [own[0]._replace(right=own[-1].right) for own in groups]) if icons else [line]
        return [replace(part, text="") if own[0] in icons else part for own, part in zip(groups or [[line.box]], parts)]

    def whole(self, gray: Gray, parts: Sequence[Line]) -> Optional[Line]:
        """Return the line of a picture of a letter or two that the layout took apart (ㅇ, ㅡ and ㅇ of 응), else None."""
        if not 1 < len(parts) <= FEW_PARTS:
            return None
        box = Box(*around(numpy.array([part.box for part in parts]), numpy.zeros(len(parts), int))[0].tolist())
        if not is_readable(box) or breadth(box) >= FEW:
            return None
        best = max([*self.read_boxes(gray, [box]), *self.read_boxes(gray, [box], LOW)], key=lambda one: one.score)
        rivals = parts if len(best.text) > 1 else ()
        return best if best.legible and best.score > max([SURE, *(one.score for one in rivals)]) else None

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
        text = SPACE.sub("\0", self.letters.text(best.ids))
        inside = slice(len(text) - len(text.lstrip()), len(text.rstrip()))
        kept = [place for place in range(len(text))[inside] if text[place] != "\0"]
        edges = edges_of(best.weights.shape[1], left, HEIGHT / height)
        score = exp(best.score / (len(text) + 1))
        return Line("".join(text[place] for place in kept), box, score, best.weights[kept], edges)

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
            chosen = self.choose(first, ids, parts[number, : len(picture)], own)
            weights = numpy.array([row[: len(picture)] for row in chosen.weights], "float32")
            best.append(replace(chosen, weights=weights.reshape(-1, len(picture))))
        return best

    def choose(self, first: Hypothesis, ids: list[int], parts: Numbers, own: tuple[State, State]) -> Hypothesis:
        """Return the likelier reading of the decoder's (`first`) and CTC's (`ids`), with the score of both."""
        if not self.ctc or list(first.ids) == ids:
            return first
        hypotheses = first, forced(self.engine.step, *own, ids)
        of_ctc = [ctc_log_probability(parts, hypothesis.ids, self.letters) for hypothesis in hypotheses]
        both = [(1 - self.ctc) * one.score + self.ctc * other for one, other in zip(hypotheses, of_ctc)]
        best = numpy.argmax(both)
        return replace(hypotheses[best], score=both[best])


def words_of(gray: Gray, line: Line) -> list[Box]:
    """Return the boxes of a line's words, cut at the widest gaps; none where letters touch or are out of order."""
    left, top, right, bottom = line.box
    marks = left + numpy.flatnonzero((ink(gray[top:bottom, left:right]) > INK).any(axis=0))
    ends = [left]
    for space in (place for place, letter in enumerate(line.text) if letter == " "):
        between = marks[(marks >= line.places[space - 1]) & (marks <= line.places[space + 1])]
        if len(between) < 2 or between[0] < ends[-1]:
            return []
        widest = int(numpy.diff(between).argmax())
        ends += [int(between[widest]) + 1, int(between[widest + 1])]
    return [Box(start, top, end, bottom) for start, end in zip(ends[::2], [*ends[1::2], right])]


def breadth(box: Box) -> float:
    """Return the width of a box as a share of its height."""
    return (box.right - box.left) / (box.bottom - box.top)


def is_readable(box: Box) -> bool:
    """Return whether a line is short enough to be read at once, and no higher than letters on a screen."""
    height = box.bottom - box.top
    return height <= HIGHEST and (box.right - box.left + height) * HEIGHT < MOST_STRIPS * STRIP * height


def load_reader(
    bundle: Optional[Union[str, Path]] = None, engine: EngineName = "auto", device: DeviceName = "auto"
) -> PictureReader:
    """Load a reader from a bundle folder, None: the packaged one; arguments and errors are `load_classifier`'s."""
    return PictureReader.load(bundle, engine, device)


packaged_reader = lru_cache(maxsize=1)(load_reader)


def read(picture: Picture) -> Reading:
    """Return the Reading of a picture by the packaged reader, loaded once.

    The picture is a path, the bytes of a file, an array (height, width) or (height, width, 3 or 4) of uint8, or an
    image of PIL. DataError where it is none, damaged or too large.
    """
    return packaged_reader()(picture)
