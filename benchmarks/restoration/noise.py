"""Noise outside the training of restorers: diphthongs without glide, and stops assimilated to a following nasal."""

from nsmc_attention.systems.restore.noise import KINDS, Edit
from nsmc_attention.text.hangul import joined, parts

# What a stop becomes before a nasal
NASAL = {"ㅂ": "ㅁ", "ㅄ": "ㅁ", "ㄱ": "ㅇ", "ㄲ": "ㅇ", "ㅅ": "ㄴ", "ㅆ": "ㄴ", "ㄷ": "ㄴ", "ㅈ": "ㄴ"}
# The largest share of the places that each kind changes, for `typed`
UNTRAINED = {"plain_vowels": 1.0, "assimilated": 1.0}


def assimilated(text: str, position: int) -> list[Edit]:
    """합니다 as 함니다, 작년 as 장년: a stop before a nasal is said as one."""
    (initial, vowel, final), following = parts(text[position]), parts(text[position + 1 : position + 2])[0]
    if final in NASAL and following in ("ㄴ", "ㅁ"):
        return [Edit(position, position + 1, joined(initial, vowel, NASAL[final]))]
    return []


# `noisy` looks for a kind by its name
KINDS["assimilated"] = assimilated
