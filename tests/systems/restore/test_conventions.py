"""What restore leaves as typed: signs, numerals with units, Latin letters, laughter, slang, line breaks, 한번."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as some

from nsmc_attention import load_restorer, restore
from nsmc_attention.systems.restore.as_typed import Decisions, keep_foreign, read_as, rules, slang
from nsmc_attention.text.encoding import clean

RIGHT = """
부모&자식 이야기
감독/배우 인터뷰
남/여 주인공
대본·연출
시작~끝까지 몰입
로맨스+스릴러
재미=0
A→B 전개
<i>최고</i>
[스포] 주인공이 죽는다
{걸작}입니다
2인극의 매력
1인 3역
3인방의 우정
5인조 밴드
S급 배우
J팝 느낌
O형 남자
PC방 알바
TV판이 낫다
12세 관람가
2 시 10 분 5 초에 시작
끝났닼ㅋㅋ
이게 뭐냨ㅋㅋ
웃기넼ㅋ
다시 한번 보고 싶다
한번쯤 볼 만한 영화
꼭 한번 보세요
띵작 인정
꾸안꾸 느낌
현타 온다
쌉가능
짦은 시간이지만
""".strip().splitlines()


@pytest.mark.parametrize("text", RIGHT)
def test_right_text_stays(text):
    assert restore(text).text == text


@pytest.mark.parametrize(
    "wrong, right",
    [
        ("다시한번 보고싶다", "다시 한번 보고 싶다"),
        ("한번도 안 봤다", "한 번도 안 봤다"),
        ("돈날렸닼ㅋㅋ", "돈 날렸닼ㅋㅋ"),
        ("재밋음", "재밌음"),
        ("정말 재밌슴", "정말 재밌음"),
        ("쩡말 째미있다", "정말 재미있다"),
        ("배우연기가좋았다\r\n음악도좋았다\n\n결말은별로", "배우 연기가 좋았다\n음악도 좋았다\n\n결말은 별로"),
    ],
)
def test_mistakes_are_still_righted(wrong, right):
    assert restore(wrong).text == right


def test_only_spacing_changes_no_letter():
    text = "재밋게잘만든영화라고 생각햇다 되서"
    restored = load_restorer(only="spacing")(text).text
    assert restored == "재밋게 잘 만든 영화라고 생각햇다 되서"


def test_what_the_editor_reads_has_the_same_length_and_no_laughing_final():
    assert read_as("재밌닼ㅋㅋ 좋앟ㅎㅎ 부엌 좋ㅎㅎ 동녘") == "재밌다ㅋㅋ 좋아ㅎㅎ 부엌 좋ㅎㅎ 동녘"


def test_each_rule_marks_a_space_and_slang_has_no_word_twice():
    assert all(pattern.groups and what in ("joined", "apart", "always", "typed") for what, pattern in rules())
    assert slang().search("완전 갑분싸") and slang().search("완전갑분싸였다") and not slang().search("비싸패")


parts = some.sampled_from(["영화", "a", "B2", "#태그", "@이름", "http://가.b/c", "3", ".", "나", " "])
texts = some.lists(some.lists(parts, min_size=1).map("".join).map(clean).filter(bool), min_size=1, max_size=5)


def kept(texts, tags, follows):
    tags, follows = numpy.array(tags, "int32"), numpy.array(follows, bool)
    ones = numpy.ones(len(tags))
    decided = keep_foreign(Decisions(tags, follows, follows, ones, ones, ones), texts)
    return list(zip(decided.tags.tolist(), decided.has_space.tolist()))


@given(texts, some.data())
def test_what_is_kept_of_a_text_does_not_depend_on_those_beside_it(texts, data):
    sizes = [len(text.replace(" ", "")) for text in texts]
    tags = [data.draw(some.lists(some.integers(0, 3), min_size=size, max_size=size)) for size in sizes]
    follows = [data.draw(some.lists(some.booleans(), min_size=size, max_size=size)) for size in sizes]
    together = kept(texts, sum(tags, []), sum(follows, []))
    assert together == [pair for text, *own in zip(texts, tags, follows) for pair in kept([text], *own)]
