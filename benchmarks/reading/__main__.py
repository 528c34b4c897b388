"""Character errors of `read`, compared with tesseract: the figures of docs/reading.md.

    python -m benchmarks.reading dev [--lines 1000] [--bundle BUNDLE]
    apt-get install tesseract-ocr tesseract-ocr-kor fonts-noto-cjk fonts-nanum fonts-baekmuk fonts-lexi-gulim
    python -m benchmarks.reading lines [--lines 400] [--bundle BUNDLE] [--without-tesseract]
    python -m benchmarks.reading.screenshots FOLDER
    python -m benchmarks.reading screenshots FOLDER [--bundle BUNDLE] [--without-tesseract]

`dev` reads lines of the dev part in the fonts of training with several weights of CTC, which chose `reader.CTC_WEIGHT`. `lines`
reads reviews of the official test file in unseen font families (UNSEEN), unchanged and with JPEG of quality 60 and a blur. The
character error is the number of edits divided by the number of letters in all lines; tesseract's is for its best enlargement.
`screenshots` finds and reads the lines of a browser's screenshots; each true line is compared with the text read at its
position, and all letters of a missing line count as errors.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

import numpy
from numpy.random import RandomState
from PIL import Image

from nsmc_attention.bundle import load_bundle
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.corpora.nsmc import load
from nsmc_attention.systems.read.decoding import ctc_path
from nsmc_attention.systems.read.drawing import (
    Degradation,
    Style,
    degraded,
    draw,
    ink_box,
    korean_faces,
    lines_of,
    review_line,
)
from nsmc_attention.systems.read.reader import PictureReader
from nsmc_attention.systems.read.reading import Line
from nsmc_attention.systems.read.settings import LAYOUT, READER
from nsmc_attention.systems.read.strips import Box, Gray, cut_out, padded, strips
from nsmc_attention.systems.read.train import MOST_DEV
from nsmc_attention.systems.sequences.characters import edit_distance
from nsmc_attention.text.encoding import clean
from nsmc_attention.training.stage import hold_out

UNSEEN = ("NotoSansCJK", "NotoSerifCJK", "gulim", "SquareRound", "Barunpen")
ENLARGEMENTS = (1, 2, 3)
SEED = 11
WAYS: dict[str, dict[str, Any]] = {"attention": {"ctc": 0.0}, "both": {}}


def character_error(pairs: Sequence[tuple[str, str]]) -> float:
    """Return edits by letters in percent, of (read, true) texts."""
    return 100 * sum(edit_distance(*pair) for pair in pairs) / sum(len(true) for _, true in pairs)


def dev_table(count: int, bundle: Optional[str]) -> None:
    """Print the character error of the dev part for each way to read it."""
    from nsmc_attention.systems.read.objective import Lines, ReadingObjective

    verified = load_bundle(bundle or READER, LAYOUT)
    config = verified.config
    texts = [text for text in map(clean, load("nsmc", "train").documents) if text]
    dev = [texts[i] for i in hold_out(len(texts), config.training, MOST_DEV)[1]]
    own = list(lines_of(dev, count, 0.0, config.text.max_length, RandomState(SEED)))
    faces = korean_faces(config.training.fonts, config.training.unused_fonts)
    objective = ReadingObjective([], None, verified.codec, faces, config.training)
    lines = objective.drawn(Lines(own, (SEED,), 0.0))
    for weight in (0.0, 0.3, 0.5, 0.7, 0.9):
        reader = PictureReader.from_bundle(verified, ctc=weight)
        parts = [lines[start : start + 16] for start in range(0, len(lines), 16)]
        found = [best for part in parts for best in reader.spell([line.strips for line in part])]
        pairs = [(reader.letters.text(best.ids), reader.letters.text(line.ids)) for best, line in zip(found, lines)]
        print(f"CTC's weight {weight}: {character_error(pairs):.2f} %", flush=True)


def tesseract(pictures: Sequence[Gray], enlargement: int, mode: int = 7) -> list[str]:
    """Return the text that tesseract reads in each picture; `mode` is its page segmentation, 7 for a single line."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for number, gray in enumerate(pictures):
            picture = Image.fromarray(gray)
            size = picture.width * enlargement, picture.height * enlargement
            picture.resize(size, Image.Resampling.BICUBIC).save(f"{folder}/{number}.png")
            names.append(f"{folder}/{number}.png")
        # one process for all: each would load its model anew
        (Path(folder) / "list").write_text("\n".join(names))
        command = ["tesseract", f"{folder}/list", "-", "-l", "kor", "--psm", str(mode)]
        # its threads would wait for each other
        alone = {**os.environ, "OMP_THREAD_LIMIT": "1"}
        pages = subprocess.run(command, capture_output=True, check=True, text=True, env=alone).stdout.split("\f")
    return [" ".join(page.split()) for page in pages[: len(pictures)]]


def drawn_lines(count: int, letters: Any) -> list[tuple[str, Style, Gray, Any]]:
    """Return (text, style, picture with background around, ends of its letters) of lines in unseen faces."""
    random = RandomState(SEED)
    faces = [face for face in korean_faces() if any(name.lower() in face.path.name.lower() for name in UNSEEN)]
    families = [[face for face in faces if name.lower() in face.path.name.lower()] for name in UNSEEN]
    reviews = [text for text in map(clean, load("nsmc", "test").documents) if text]
    lines: list[tuple[str, Style, Gray, Any]] = []
    while len(lines) < count:
        own = families[len(lines) % len(families)]
        face = own[random.randint(len(own))]
        text = review_line(reviews[random.randint(len(reviews))], 40, random)
        text = " ".join("".join(letter for letter in text if ord(letter) in face.characters).split())
        dark = random.random_sample() < 0.5
        ink, paper = (235, 25) if dark else (30, 250)
        style = Style(face, int(random.randint(14, 33)), ink, paper, 0, 3 if random.random_sample() < 0.5 else 1)
        if len(text) >= 3:
            lines.append((text, style, *draw(text, style)))
    return lines


def lines_table(count: int, bundle: Optional[str], others: bool) -> None:
    readers = {name: PictureReader.load(bundle, **options) for name, options in WAYS.items()}
    letters = readers["both"].letters
    drawn = drawn_lines(count, letters)
    random = RandomState(SEED)
    for name, jpeg, blur in (("clean", 0, 0.0), ("JPEG 60 and blur", 60, 0.035)):
        pictures = [degraded(gray, Degradation(jpeg, blur * style.size), random) for _, style, gray, _ in drawn]
        boxes = [Box(*(ink_box(gray) or (0, 0, 1, 1))) for gray in pictures]
        texts = [text for text, *_ in drawn]
        print(f"{name}: {count} lines")
        for way, reader in readers.items():
            lines = [reader.read_boxes(gray, [box])[0] for gray, box in zip(pictures, boxes)]
            print(f"  {way}: {character_error([(line.text, text) for line, text in zip(lines, texts)]):.2f} %")
        print(f"  where it looked: {looked_right(lines, drawn):.1f} % within half a letter")
        by_ctc = [ctc_alone(readers["both"], cut_out(gray, box)[0]) for gray, box in zip(pictures, boxes)]
        print(f"  CTC alone: {character_error(list(zip(by_ctc, texts))):.2f} %")
        unknown = sum(letter not in letters.ids for text in texts for letter in text)
        print(f"  letters that the reader does not know: {unknown}")
        labels = same_labels([line.text for line in lines], texts)
        print(f"  the same sentiment as of the text: {labels:.1f} %")
        if others:
            cut = [cut_out(gray, box, (0.4,) * 4)[0] for gray, box in zip(pictures, boxes)]
            errors = {scale: character_error(list(zip(tesseract(cut, scale), texts))) for scale in ENLARGEMENTS}
            print(
                f"  tesseract, by enlargement: {', '.join(f'{scale}: {error:.2f} %' for scale, error in errors.items())}"
            )
    print(f"milliseconds a line, median, one thread: {latency(bundle, pictures, boxes):.1f}")


def ctc_alone(reader: PictureReader, gray: Gray) -> str:
    batch, lengths = padded([strips(gray)])
    _, _, parts = reader.engine.begin(batch, lengths)
    return reader.letters.text(ctc_path(parts[0, : lengths[0]], reader.letters)).strip()


def looked_right(lines: Sequence[Line], drawn: Sequence[tuple[str, Style, Gray, Any]]) -> float:
    """Return the share of letters, spaces left out, of lines read rightly that were looked at within half a letter."""
    hits = []
    for line, (text, style, _, ends) in zip(lines, drawn):
        if line.text == text:
            middles = (ends[:-1] + ends[1:]) / 2
            near = numpy.abs(line.places - middles) <= style.size / 2
            hits += [hit for hit, letter in zip(near, text) if letter != " "]
    return 100 * float(numpy.mean(hits))


def same_labels(read: Sequence[str], texts: Sequence[str]) -> float:
    """Return the share of texts that get the same label from what was read; blank ones differ."""
    classifier = load_classifier()
    one, other = (classifier.probabilities(side) for side in (read, texts))
    return 100 * float(numpy.mean((one >= 0.5) == (other >= 0.5)))


def latency(bundle: Optional[str], pictures: Sequence[Gray], boxes: Sequence[Box]) -> float:
    reader, times = PictureReader.load(bundle, threads=1), []
    for gray, box in zip(pictures, boxes):
        start = time.perf_counter()
        reader.read_boxes(gray, [box])
        times.append(time.perf_counter() - start)
    return 1000 * float(numpy.median(times))


def screenshots_table(folder: Path, bundle: Optional[str], others: bool) -> None:
    """Print a row for each kind of screenshot."""
    reader = PictureReader.load(bundle)
    rows: dict[str, list[tuple[str, str]]] = defaultdict(list)
    by_other: dict[int, dict[str, list[tuple[str, str]]]] = {scale: defaultdict(list) for scale in ENLARGEMENTS}
    seconds = []
    for name, about in json.loads((folder / "lines.json").read_text(encoding="utf-8")).items():
        kind, truth = f"{about['theme']}, {about['scale']}x", about["lines"]
        gray = numpy.asarray(Image.open(folder / name).convert("L"))
        start = time.perf_counter()
        lines = reader(gray).lines
        seconds.append(time.perf_counter() - start)
        texts = [true["text"] for true in truth]
        rows[kind] += [(read_at(true["box"], lines), true["text"]) for true in truth]
        if others:
            cut = [cut_out(gray, Box(*map(round, true["box"])), (0.2,) * 4)[0] for true in truth]
            for scale in ENLARGEMENTS:
                by_other[scale][kind] += list(zip(tesseract(cut, scale), texts))
    for kind, pairs in sorted(rows.items()):
        best = min((character_error(own[kind]), scale) for scale, own in by_other.items()) if others else None
        beside = f"; tesseract {best[0]:.2f} %, given the true boxes, enlarged {best[1]} times" if best else ""
        same = same_labels(*zip(*pairs))
        print(
            f"{kind}: {character_error(pairs):.2f} % of {len(pairs)} lines, same sentiment {same:.1f} %{beside}",
            flush=True,
        )
    pairs = [pair for own in rows.values() for pair in own]
    print(f"all: {character_error(pairs):.2f} %; {numpy.median(seconds):.2f} s a picture")


def read_at(box: Sequence[float], lines: Sequence[Line]) -> str:
    """Return the text read within the true box of a line, nothing where no line was found."""
    left, top, right, bottom = box
    inside = [
        line
        for line in lines
        if top <= (line.box.top + line.box.bottom) / 2 <= bottom
        and left - 3 <= (line.box.left + line.box.right) / 2 <= right + 3
    ]
    return " ".join(line.text for line in sorted(inside, key=lambda line: line.box.left))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("dev", "lines", "screenshots"))
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--lines", type=int, default=400)
    parser.add_argument("--bundle")
    parser.add_argument("--without-tesseract", action="store_true")
    given = parser.parse_args()
    if given.what == "dev":
        dev_table(given.lines, given.bundle)
    elif given.what == "lines":
        lines_table(given.lines, given.bundle, not given.without_tesseract)
    else:
        screenshots_table(given.folder, given.bundle, not given.without_tesseract)


if __name__ == "__main__":
    main()
