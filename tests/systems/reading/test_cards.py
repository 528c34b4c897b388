"""Cards as review sites show them: name and date, stars, text, tags; every line comes out, nearly all letters right."""

import pytest
from PIL import Image, ImageDraw, ImageFont

from nsmc_attention import read
from nsmc_attention.drawing.figure import font_file
from nsmc_attention.systems.sequences.characters import edit_distance

CARDS = """
산들바람 2023.08.14
★★★★☆
음악이 오래 기억에 남는다
#여운 #음악
밤하늘*** | 2024.01.02
★★☆☆☆ 4/10
결말을 알 수가 없다...
#실망
ㅋㅋㅋㅋ ㅠㅠㅠ
별점 ★☆☆☆☆ 1점
ㄹㅇ 꿀잼 ㅎㅎ
☆☆☆☆☆
""".strip().splitlines()


@pytest.mark.parametrize("size", [14, 18, 24, 32])
@pytest.mark.parametrize("paper, ink", [("white", "black"), ("#1f2329", "#e8eaed")])
def test_every_line_of_a_card_is_read(size, paper, ink):
    font, height = ImageFont.truetype(str(font_file()), size), int(1.8 * size)
    picture = Image.new("RGB", (18 * size, height * len(CARDS) + 40), paper)
    for number, line in enumerate(CARDS):
        ImageDraw.Draw(picture).text((20, 20 + height * number), line, font=font, fill=ink)
    lines = [line.text for line in read(picture).lines]
    assert len(lines) == len(CARDS)
    wrong = sum(map(edit_distance, lines, CARDS))
    assert wrong <= 0.03 * sum(map(len, CARDS)), lines
    for line, right in zip(lines, CARDS):
        assert line.count("★") == right.count("★") and line.count("☆") == right.count("☆")
