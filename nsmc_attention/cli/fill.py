"""The command `fill`."""

import json
from pathlib import Path
from typing import Optional

import click

from ..errors import ConfigError
from .declare import command, option, text_argument
from .options import HEADS, TaskModel


@command()
def fill(
    *,
    text: tuple[str, ...] = text_argument("read its reviews one by one: `fill` takes one text, not %s", required=True),
    top: int = option("number of candidates", default=5, type=click.IntRange(1)),
    as_json: bool = option("print one line of JSON, with the attention of [MASK]", "--json"),
    heads: Optional[Path] = HEADS,
    model: TaskModel,
) -> None:
    """Print the likeliest words for each [MASK] of a text: probability, words and completed text.

    \b
    nsmc-attention fill "주인공의 [MASK]에 소름이 돋았다"
    nsmc-attention fill "엔딩 [MASK]이 [MASK] 때까지" --top 10 --json
    nsmc-attention fill "이 영화 정말 [MASK]" --heads heads.png
    """
    if len(text) > 1:
        raise ConfigError(f"fill: expected one TEXT, found {len(text)}; put it in quotes")
    from ..drawing.figure import check_suffix
    from ..systems.language.model import LanguageModel

    if heads:
        check_suffix(heads)
    filling = LanguageModel.load(*model)(text[0], top)
    if heads:
        from ..views.page import save_heads

        save_heads(filling, heads)
    if as_json:
        print(json.dumps(filling.to_dict(), ensure_ascii=False))
        return
    for candidate in filling.candidates:
        print(f"{candidate.probability:.4g}\t{candidate.token}\t{candidate.text}")
