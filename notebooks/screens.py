"""Pictures of text for chapter 6: a screenshot of cards, a line as it is cut out, a page."""

import numpy
from PIL import Image, ImageDraw, ImageFont

from nsmc_attention.drawing.figure import font_file
from nsmc_attention.systems.read.layout import find_lines
from nsmc_attention.systems.read.strips import cut_out


def font(size):
    return ImageFont.truetype(str(font_file()), size)


def screenshot(cards):
    """Return a picture of cards, (text, color of the card, color of the text) each."""
    picture = Image.new("RGB", (470, 24 + 74 * len(cards)), "#e9edf2")
    pen = ImageDraw.Draw(picture)
    for top, (text, paper, ink) in zip(range(24, picture.height, 74), cards):
        pen.rounded_rectangle((20, top, 450, top + 54), 12, fill=paper)
        pen.text((40, top + 14), text, font=font(24), fill=ink)
    return picture


def page(size, *texts):
    """Return a gray picture with texts, (place, text) each."""
    picture = Image.new("L", size, 255)
    for place, text in texts:
        ImageDraw.Draw(picture).text(place, text, font=font(24), fill=0)
    return picture


def line(text):
    """Return what is cut out of a picture of one line, (height, width)."""
    gray = numpy.asarray(page((int(font(24).getlength(text)) + 48, 48), ((24, 12), text)))
    return cut_out(gray, find_lines(gray)[0])[0]
