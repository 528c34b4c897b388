import pytest

from nsmc_attention.apps.words import content_words
from nsmc_attention.text.tokenizers import mecab_tags


@pytest.mark.parametrize(
    "text, words",
    [
        ("돈이 아까워요, 3번 봤어요 ㅋㅋㅋ!!", ["돈", "아깝다"]),
        ("지루하고 유치한데 재밌게 울었다", ["지루하다", "유치하다", "재밌다", "울다"]),
        ("감동적이고 사랑했던 배우", ["감동", "사랑", "배우"]),
        ("핵노잼 짜증나 컨저링", ["핵노잼", "핵노잼", "핵노잼", "짜증"]),
        ("", []),
    ],
)
def test_content_words_are_dictionary_forms_without_endings_numerals_and_pieces(text, words):
    found = content_words(text)
    assert [word for *_, word in found if word] == words
    assert [(start, end) for start, end, _ in found] == [(start, end) for start, end, _ in mecab_tags(text)]
