"""Pictures of every kind, and files that are none: the right pixels or one line."""

import io
import struct
import zlib

import numpy
import pytest
from PIL import Image

from nsmc_attention.errors import DataError
from nsmc_attention.systems.read.opening import FORMATS, LARGEST_FILE, MOST_PIXELS, open_gray

# dark above, light below
PIXELS = numpy.repeat(numpy.array([[20], [230]], dtype="uint8"), 6, axis=1).repeat(4, axis=0)


def encoded(picture, style, **options):
    file = io.BytesIO()
    picture.save(file, style, **options)
    return file.getvalue()


RGB = Image.fromarray(PIXELS).convert("RGB")
FRAMES = [Image.fromarray(PIXELS), Image.fromarray(255 - PIXELS)]
FORMS = {
    **{f"{style} {mode}": encoded(RGB.convert(mode), style) for style in FORMATS for mode in ("L", "RGB")},
    "CMYK": encoded(RGB.convert("CMYK"), "JPEG", quality=100),
    "palette": encoded(RGB.convert("P", palette=Image.Palette.ADAPTIVE), "PNG"),
    "16 bits": encoded(Image.fromarray(PIXELS.astype("uint16") * 257), "PNG"),
    "animation": encoded(FRAMES[0], "GIF", save_all=True, append_images=FRAMES[1:], duration=50),
}


@pytest.mark.parametrize("content", FORMS.values(), ids=FORMS)
def test_a_picture_of_every_form_has_its_pixels(content):
    assert numpy.abs(open_gray(content).astype(int) - PIXELS).max() < 12


def test_from_a_file_a_link_an_array_and_an_image(tmp_path):
    picture, path = Image.fromarray(PIXELS), tmp_path / "그림.png"
    picture.save(path)
    (tmp_path / "link.png").symlink_to(path)
    rgb = numpy.stack([PIXELS] * 3, axis=2)
    for given in (path, str(path), tmp_path / "link.png", picture, PIXELS, rgb):
        assert numpy.array_equal(open_gray(given), PIXELS)


def test_what_exif_says_is_done():
    picture, exif = Image.fromarray(PIXELS), Image.Exif()
    exif[0x0112] = 6  # to be turned to the right
    turned = open_gray(encoded(picture, "JPEG", exif=exif, quality=100))
    assert turned.shape == PIXELS.shape[::-1] and turned[:, 0].mean() > turned[:, -1].mean()


@pytest.mark.parametrize(("color", "paper"), [(0, 255), (255, 0)])
def test_what_is_transparent_is_paper(color, paper):
    pixels = numpy.full((10, 30, 4), color, dtype="uint8")
    pixels[..., 3] = 0
    pixels[4:6, 5:25, 3] = 255
    gray = open_gray(encoded(Image.fromarray(pixels), "PNG"))
    assert (gray[0, 0], gray[5, 10]) == (paper, color)


def png_of(width, height):
    """A PNG of some bytes that announces so many pixels."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")


JPEG = encoded(Image.fromarray(numpy.random.RandomState(0).randint(0, 255, (60, 60), dtype="uint8")), "JPEG")
NO_PICTURES = [numpy.zeros((3, 3)), numpy.zeros((2, 2, 2), "uint8"), numpy.zeros((0, 5), "uint8")]
WRONG = {
    "too many pixels": (png_of(10_000, 10_000), "expected at most 40,000,000 pixels, found 10,000 x 10,000"),
    "a bomb": (png_of(2**31 - 1, 2**31 - 1), "pixels"),
    "truncated": (JPEG[: len(JPEG) // 2], "damaged"),
    "no pixels": (png_of(40, 40), "damaged"),
    "a PDF": (b"%PDF-1.7\n", "found another file"),
    "nothing": (b"", "found another file"),
    "text": ("정말 재미있는 영화".encode(), "found another file"),
    "too large": (bytes(LARGEST_FILE + 1), "bytes"),
    "an array of too many pixels": (numpy.zeros((MOST_PIXELS // 100 + 1, 100), "uint8"), "at most 40,000,000 pixels"),
    **{f"an array {value.shape} of {value.dtype}": (value, "picture: expected") for value in NO_PICTURES},
    **{repr(value): (value, "picture: expected") for value in (3, None)},
}


@pytest.mark.parametrize("content, expected", WRONG.values(), ids=WRONG)
def test_what_is_no_picture_is_refused(content, expected):
    with pytest.raises(DataError, match=expected):
        open_gray(content)
