"""The pictures that commands draw, as the pages show them.

    python -m docs.make.pictures     # pip install '.[test]'

NAME.png is in English; Korean pages show NAME.ko.png, where the picture has words of its own.
"""

import io
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy
from PIL import Image, ImageDraw, ImageFont
from scipy.spatial import cKDTree

from nsmc_attention.drawing import figure as drawing

PICTURES = Path(__file__).parents[1] / "pictures"
# Of 256 colours of a picture, which has more where its letters have edges
KEPT = 160
# A window whose picture can still be read on a phone
WIDTH = 520
WINDOW: dict[str, Any] = {
    "viewport": {"width": WIDTH, "height": 800},
    "device_scale_factor": 1.25,
    "color_scheme": "light",
}
REVIEW = "배우는 좋은데 영화는 별로"
HEATMAP = "가지고 있는 이야기에 비해 정말로 수준떨어지는 연출, 편집"
# Sentences with a telling word, a negation, an idiom or two clauses that disagree
SENTENCES = [
    "배우는 좋은데 영화는 정말 별로",
    "나무랄 데 없는 영화",
    "돈 주고 볼 영화는 아니에요",
    "기대 안 했는데 생각보다 훨씬 좋았어요",
    "전작보다 못하다",
    "시간 가는 줄 모르고 봤네요",
    "잠이 솔솔 오는 명작ㅋㅋ",
    "재미없지 않아요",
]
BOTH, ENGLISH = ("en", "ko"), ("en",)
COMMANDS = {
    "heatmap": (BOTH, ["explain", HEATMAP, "--picture", "matrix", "--output"]),
    "words": (
        BOTH,
        ["explain", REVIEW, *(f"--method={name}" for name in ("contribution", "attention", "erasure")), "--output"],
    ),
    "contributions": (
        ENGLISH,
        ["explain", *SENTENCES, "--method", "attention", "--method", "contribution", "--output"],
    ),
    "heads": (ENGLISH, ["fill", "주인공의 [MASK]에 소름이 돋았다", "--heads"]),
    "reading": (ENGLISH, ["read", "screenshot.png", "--explain"]),
}


def named(name, language="en"):
    """Return the path of a picture for the pages of a language."""
    return PICTURES / f"{name}{'' if language == 'en' else f'.{language}'}.png"


def save(picture, path):
    """Write a picture, given as the bytes or the path of one, as a small PNG."""
    image = Image.open(io.BytesIO(picture) if isinstance(picture, bytes) else picture).convert("RGB")
    with_palette(image).save(path, optimize=True)


def save_figure(figure, path):
    drawing.save_figure(figure, path)
    save(path, path)


def with_palette(image):
    """Return an RGB image with 256 colours: its KEPT most frequent, which are shades with a meaning, as they are."""
    codes, places, counts = numpy.unique(
        numpy.asarray(image) @ (1 << 16, 1 << 8, 1), return_inverse=True, return_counts=True
    )
    colors = numpy.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=-1).astype("uint8")
    frequent = colors[numpy.argsort(-counts)]
    others = Image.fromarray(frequent[None, KEPT:]).quantize(256 - KEPT, Image.Quantize.MAXCOVERAGE)
    palette = numpy.concatenate([frequent[:KEPT], numpy.array(others.getpalette()).reshape(-1, 3)])
    nearest = cKDTree(palette).query(colors)[1].astype("uint8")
    done = Image.fromarray(nearest[places].reshape(image.size[::-1]), "P")
    done.putpalette(palette.astype("uint8").tobytes())
    return done


def screenshot(text):
    image = Image.new("RGB", (440, 60), "#202020")
    font = ImageFont.truetype(str(drawing.font_file()), 30)
    ImageDraw.Draw(image).text((16, 12), text, font=font, fill="#e6e6e6")
    return image


def main():
    with tempfile.TemporaryDirectory() as folder:
        screenshot("정말 재미있는 영화ㅋㅋㅋ").save(f"{folder}/screenshot.png")
        for name, (languages, arguments) in COMMANDS.items():
            for language in languages:
                command = [sys.executable, "-m", "nsmc_attention", *arguments, "drawn.png", "--language", language]
                subprocess.run(command, cwd=folder, check=True)
                save(f"{folder}/drawn.png", named(name, language))


if __name__ == "__main__":
    main()
