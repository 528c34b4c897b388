"""`read`: a picture in, its lines of text out, with the position of each letter."""

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
# Weight of CTC beside the decoder; chosen on the dev part (`python -m benchmarks.reading dev`)
CTC_WEIGHT = 0.3
# Second readings of doubtful lines: the score and the width in heights below which a line is read again, the edges, and
# the least score and the letters of a new text. Boxes of low letters (ㅋㅋ) are too low, of digits in badges too high
LOW, LOWER, HIGH = (EDGE_SPACE, 0.25) * 2, (0.3, 0.4, 0.3, 0.3), (EDGE_SPACE, -0.3, EDGE_SPACE, -0.15)
AGAIN = (0.75, 1e9, LOW, 0, ".*"), (0.75, 3, HIGH, 0, ".*"), (0.85, 6, LOWER, SURER, "[ㄱ-ㅣ ]+")
# A picture of one or two letters: its maximum width in heights, the most boxes of its layout; least ink, of 255
SHORT, SHORT_BOXES, INK = 3, 6, 100
# A single letter or sign between spaces, which may be an icon; a space between two single consonants or vowels
ALONE = re.compile(r"(?<!\S)(?:[^\W\d_가-힣]|[ↀ-⛿×÷※℃№₩°^])(?!\S)")
SPACE = re.compile(r"(?<![^ ][ㄱ-ㅣ])(?<=[ㄱ-ㅣ]) (?=[ㄱ-ㅣ](?!\S))")
# Least probabilities of single signs: those that icons are often read as, and all others
SIGNS, SIGN = {"□": SURER, **dict.fromkeys("☆★♡♥○↓℃№₩°^", SURE)}, 0.4
TIMES, MORE_LETTERS = 1.3, 6  # Maximum length of a search: TIMES the letters that CTC reads, and MORE_LETTERS more


class PictureReader(Predictor):
    """A predictor of the text in pictures: a bundle of the task `read` and its engine.

    `ctc` is the weight of CTC in the choice between readings, 0 to 1; 0 uses only the greedy search of the decoder.
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

        DataError if it is not a picture, damaged or too large.
        """
        return self.read_gray(open_gray(picture))

    def read_gray(self, gray: Gray) -> Reading:
        """Return the Reading of gray pixels (height, width)."""
        clear = without_rules(gray, contrast := framed_contrast(gray))
        boxes = find_lines(clear, contrast if clear is gray else None)
        lines = self.read_boxes(clear, list(filter(is_readable, boxes)))
        best = {line.box: line for line in lines}
        for doubt, widest, edges, least_score, letters in AGAIN:
            doubtful = [line.box for line in lines if line.score < doubt and aspect_ratio(line.box) < widest]
            again = [line for line in self.read_boxes(clear, doubtful, edges) if re.fullmatch(letters, line.text)]
            best.update({line.box: line for line in again if line.score >= max(least_score, best[line.box].score)})
        if whole := self.whole(clear, [best[box] for box in boxes if box in best]):
            return Reading((whole,), gray, tuple(box for box in boxes if box not in best))
        lines = [part for box in boxes if box in best for part in self.parts(clear, best[box])]
        unread = [box for box in boxes if box not in best] + [line.box for line in lines if not line.legible]
        return Reading(tuple(line for line in lines if line.legible), gray, tuple(unread))

    def parts(self, gray: Gray, line: Line) -> list[Line]:
        """Return a line divided at its icons, which are single letters that are illegible alone; their text is empty."""
        words = words_of(gray, line) if ALONE.search(line.text) and " " in line.text else []
        single = [box for box, word in zip(words, line.text.split(" ")) if ALONE.fullmatch(word)]
        icons = {
            sign.box
            for sign in self.read_boxes(gray, single)
            if sign.score < SIGNS.get(sign.text, SURE if sign.text.isalpha() else SIGN)
        }
        groups = [list(boxes) for _, boxes in groupby(words, icons.__contains__)] if icons else [[line.box]]
        spans = [group[0]._replace(right=group[-1].right) for group in groups]
        parts = self.read_boxes(gray, spans) if icons else [line]
        return [replace(part, text="") if group[0] in icons else part for group, part in zip(groups, parts)]

    def whole(self, gray: Gray, parts: Sequence[Line]) -> Optional[Line]:
        """Return the line of a picture of one or two letters that the layout divided (ㅇ, ㅡ, ㅇ of 응), or None."""
        if not 1 < len(parts) <= SHORT_BOXES:
            return None
        box = Box(*around(numpy.array([part.box for part in parts]), numpy.zeros(len(parts), int))[0].tolist())
        if not is_readable(box) or aspect_ratio(box) >= SHORT:
            return None
        best = max([*self.read_boxes(gray, [box]), *self.read_boxes(gray, [box], LOW)], key=lambda line: line.score)
        rivals = parts if len(best.text) > 1 else ()
        return best if best.legible and best.score > max([SURE, *(line.score for line in rivals)]) else None

    def read_boxes(self, gray: Gray, boxes: Sequence[Box], edges: Sequence[float] = (EDGE_SPACE,) * 4) -> list[Line]:
        """Return the line in each box of a picture; lines of similar length are read together."""
        crops = [cut_out(gray, box, edges) for box in boxes]
        pictures = [strips(crop) for crop, _ in crops]
        order = sorted(range(len(boxes)), key=lambda number: len(pictures[number]))
        batches = [order[start : start + LINES_A_BATCH] for start in range(0, len(order), LINES_A_BATCH)]
        parts = [[pictures[i] for i in batch] for batch in batches]
        hypotheses = dict(zip(order, chain.from_iterable(in_threads(self.engine.threads, self.spell, parts))))
        return [self.line(hypotheses[i], boxes[i], crop.shape[0], left) for i, (crop, left) in enumerate(crops)]

    def line(self, best: Hypothesis, box: Box, height: int, left: int) -> Line:
        """Return the Line of a hypothesis; its crop has `height` pixels and begins at the column `left`."""
        text = SPACE.sub("\0", self.letters.text(best.ids))
        inside = slice(len(text) - len(text.lstrip()), len(text.rstrip()))
        kept = [index for index in range(len(text))[inside] if text[index] != "\0"]
        edges = edges_of(best.weights.shape[1], left, HEIGHT / height)
        score = exp(best.score / (len(text) + 1))
        return Line("".join(text[index] for index in kept), box, score, best.weights[kept], edges)

    def spell(self, pictures: Sequence[NDArray[numpy.float32]]) -> list[Hypothesis]:
        """Return the best hypothesis for the strips of each line, with its log-probability as score."""
        source, state, parts = self.engine.begin(*padded(pictures))
        ctc_ids = [ctc_path(row[: len(picture)], self.letters) for row, picture in zip(parts, pictures)]
        longest = [int(len(ids) * TIMES) + MORE_LETTERS for ids in ctc_ids]
        greedy = search(self.engine.step, source, state, BEGIN, END, longest, 1, alpha=0.0)
        hypotheses = []
        for number, ((first,), ids, picture) in enumerate(zip(greedy, ctc_ids, pictures)):
            row = slice(number, number + 1)
            inputs = [array[row] for array in source], [array[row] for array in state]
            best = self.choose(first, ids, parts[number, : len(picture)], inputs)
            weights = numpy.array([row[: len(picture)] for row in best.weights], "float32")
            hypotheses.append(replace(best, weights=weights.reshape(-1, len(picture))))
        return hypotheses

    def choose(self, first: Hypothesis, ids: list[int], parts: Numbers, inputs: tuple[State, State]) -> Hypothesis:
        """Return the reading with the higher joint score, by the decoder (`first`) or CTC (`ids`), with this score."""
        if not self.ctc or list(first.ids) == ids:
            return first
        hypotheses = first, forced(self.engine.step, *inputs, ids)
        ctc_scores = [ctc_log_probability(parts, hypothesis.ids, self.letters) for hypothesis in hypotheses]
        decoder_scores = [hypothesis.score for hypothesis in hypotheses]
        scores = [(1 - self.ctc) * decoder + self.ctc * ctc for decoder, ctc in zip(decoder_scores, ctc_scores)]
        best = numpy.argmax(scores)
        return replace(hypotheses[best], score=scores[best])


def words_of(gray: Gray, line: Line) -> list[Box]:
    """Return the boxes of a line's words, cut at the widest gaps; none if letters touch or are out of order."""
    left, top, right, bottom = line.box
    columns = left + numpy.flatnonzero((ink(gray[top:bottom, left:right]) > INK).any(axis=0))
    ends = [left]
    for space in (index for index, letter in enumerate(line.text) if letter == " "):
        between = columns[(columns >= line.places[space - 1]) & (columns <= line.places[space + 1])]
        if len(between) < 2 or between[0] < ends[-1]:
            return []
        widest = int(numpy.diff(between).argmax())
        ends += [int(between[widest]) + 1, int(between[widest + 1])]
    return [Box(start, top, end, bottom) for start, end in zip(ends[::2], [*ends[1::2], right])]


def aspect_ratio(box: Box) -> float:
    """Return the width of a box divided by its height."""
    return (box.right - box.left) / (box.bottom - box.top)


def is_readable(box: Box) -> bool:
    """Return whether a line has at most MOST_STRIPS strips and is at most HIGHEST pixels high."""
    height = box.bottom - box.top
    return height <= HIGHEST and (box.right - box.left + height) * HEIGHT < MOST_STRIPS * STRIP * height


def load_reader(
    bundle: Optional[Union[str, Path]] = None, engine: EngineName = "auto", device: DeviceName = "auto"
) -> PictureReader:
    """Load a reader from a bundle folder, None: the packaged one. Arguments and errors are as in `load_classifier`."""
    return PictureReader.load(bundle, engine, device)


packaged_reader = lru_cache(maxsize=1)(load_reader)


def read(picture: Picture) -> Reading:
    """Return the Reading of a picture by the packaged reader, which is loaded once.

    The picture is a path, the bytes of a file, an array (height, width) or (height, width, 3 or 4) of uint8, or an
    image of PIL. DataError if it is not a picture, damaged or too large.
    """
    return packaged_reader()(picture)
