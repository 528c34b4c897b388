"""The list of mistakes that most make, which decides where the editor has learnt too little."""

import numpy
import pytest

from nsmc_attention import load_restorer
from nsmc_attention.machine.files import read_rows
from nsmc_attention.systems.restore.correctors import HERE, SURE_CHANGE, Draft, listed_mistakes, mistaken
from nsmc_attention.systems.restore.junctions import RestorerCharacters
from nsmc_attention.systems.sequences.characters import KEEP

EDITOR, (_, ROWS) = load_restorer().characters, mistaken()
ENDS = {row["wrong"].replace(" ", "") for row in read_rows(HERE / "ends.tsv")}
RIGHTS = {wrong: row["right"].replace(" ", "") for wrong, row in ROWS.items() if row["righted"] == "anywhere"}


def decided(texts, characters=EDITOR, tag=KEEP):
    letters = [text.replace(" ", "") for text in texts]
    ends = numpy.cumsum([*map(len, letters)])
    tags, certainty = numpy.full(ends[-1], tag, "int32"), numpy.full(ends[-1], 0.6, "float32")
    none = numpy.zeros(ends[-1], "bool")
    found = listed_mistakes(Draft(texts, letters, ends, none, tags, certainty, none.astype(float), characters))
    return found.tags, found.certainty


@pytest.mark.parametrize("wrong", sorted(RIGHTS.keys() - ENDS))
def test_each_mistake_is_righted_with_a_probability(wrong):
    if set(RIGHTS[wrong]) - EDITOR.ids.keys():
        pytest.skip("the editor cannot write it")
    tags, certainty = decided(["가 나", f"가{wrong} 나", "다"], tag=7)
    own = slice(3, 3 + len(wrong))
    found = [one if tag == KEEP else EDITOR.character(tag) for one, tag in zip(wrong, tags[own].tolist())]
    assert "".join(found) == RIGHTS[wrong]
    assert certainty[own].min() == pytest.approx(SURE_CHANGE) and (certainty[own][tags[own] == KEEP] == 1).all()
    # the letters around it are the editor's
    around = numpy.delete(numpy.arange(len(tags)), own)
    assert (tags[around] == 7).all() and (certainty[around] == numpy.float32(0.6)).all()


@pytest.mark.parametrize(
    "text",
    [
        "돼서 좋다",
        "지금 새벽",
        "오래 되 서",
        "사건들이",
        "살찌게",
        "그 일부로",
        "소통채널",
        "연애인지",
        "가을께",
        "먹기 싫으시대요",
        "완전 사기군요",
        "코가 비뚤고",
        "짓궂이 웃었다",
        "5개 구장이",
        "지금새벽인데",
        "여러개구장이",
        "승낙여부",
        "성실껏",
        "지아니였다",
        "어디 가세요? 학교에요.",
        "내일 오후에요",
        *"데상트 사헤택 고양이였다 아이여야 사이여서 꽃히어로 본격어드벤처 망쳐먹다 로드무비로서 댓가지 왠지 됫박 마음껏다".split(),
    ],
)
def test_other_texts_are_as_they_were(text):
    tags, certainty = decided([text, "끝"])
    assert (tags == KEEP).all() and (certainty == numpy.float32(0.6)).all()


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("이거 최고에요", "이거 최고예요"),
        ("얼마에요? 네", "얼마예요? 네"),
        ("이러면 안 되.", "이러면 안 돼."),
        ("안되", "안돼"),
        ("사람이 돼었다", "사람이 되었다"),
        ("금새 끝났다", "금세 끝났다"),
        ("그 개구장이가", "그 개구쟁이가"),
        ("정말별로에요.", "정말별로예요."),
        ("지금새 끝났다", "지금새 끝났다"),
        ("영화에요즘", "영화에요즘"),
        ("고양이에요 아니에요", "고양이에요 아니에요"),
        ("안 되는 일", "안 되는 일"),
        ("작품이였다 아니였네 격어봤다", "작품이었다 아니었네 겪어봤다"),
        ("최고에요^^ 최고에요♥", "최고예요^^ 최고예요♥"),
        ("왠 떡이냐 실껏 쳐먹네", "웬 떡이냐 실컷 처먹네"),
        ("천천이 먹을께요, 게산하고 할 꺼야", "천천히 먹을게요, 계산하고 할거야"),
    ],
)
def test_letters_at_an_edge_of_a_word_are_righted_there_alone(text, right):
    tags, _ = decided([text, "끝"])
    letters, found = text.replace(" ", "") + "끝", tags.tolist()
    assert (
        "".join(one if tag == KEEP else EDITOR.character(tag) for one, tag in zip(letters, found))
        == right.replace(" ", "") + "끝"
    )


def test_a_mistake_is_found_with_its_space_and_without_not_across_texts():
    for text in ("어의 없다", "어의없다"):
        tags, _ = decided([text])
        assert EDITOR.character(tags[1]) == "이" and (numpy.delete(tags, 1) == KEEP).all()
    assert (decided(["되", "서"])[0] == KEEP).all()


def test_a_letter_that_the_characters_lack_is_left_to_the_editor():
    assert (decided(["되서"], RestorerCharacters(("되", "서")))[0] == KEEP).all()


def test_what_the_list_decides_is_a_change_like_any_other():
    found = load_restorer()("가수가 되서 설겆이는 내가 할께요")
    assert found.text == "가수가 돼서 설거지는 내가 할게요"
    assert [change.source for change in found.changes] == ["되", "겆이", "께"]
    assert all(0.98 < change.probability <= 1 for change in found.changes)
    assert load_restorer(min_probability=1)("가수가 되서").text == "가수가 되서"
