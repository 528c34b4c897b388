"""A text in which nothing is wrong stays as typed, also where the editor would have spaced or spelt it otherwise."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nsmc_attention import load_restorer, restore
from nsmc_attention.systems.restore.as_typed import WEIGHTS, log_odds, of_letters, of_probability, space_is_open, usage
from nsmc_attention.systems.sequences.characters import KEEP
from nsmc_attention.text.tokenizers import mecab_tags

# A compound, an auxiliary, a dependent adjective, a name and its title, a noun and its verb, laughter, slang, titles in quotes
RIGHT = """
영화감독이 되고 싶다
감정이입하면서 봤다
막장드라마의 조합
숨어있는 반전이 좋다
꼭 보여주고 싶다
꽤나 볼만하네요
조금 아닌듯하네요
홍은희씨 연기가 좋았다
정말 짜증나는 결말
적극 강추합니다
너무 오글거림 진짜
정말 재밌었어요ㅋㅋ
가족과 한번 더 보려고요
정말 잼있게 봤어요
다시 보고픈 영화
동감ㅎ 정말 잘 만들었다
TV드라마로 제격
평론가 이상은님 글이 좋다
어릴 때 본 <이웃집에사는남자> 생각이 난다
'비오는날의수채화' 노래만 남았다
""".strip().splitlines()


@pytest.mark.parametrize("text", RIGHT)
def test_right_text_stays(text):
    assert restore(text).text == text


@pytest.mark.parametrize("text", RIGHT)
def test_an_error_elsewhere_is_still_corrected(text):
    restored = restore(f"{text}. 볼수 있어서 좋았다").text
    assert restored.endswith("볼 수 있어서 좋았다")


@pytest.mark.parametrize(
    "text, words, is_open",
    [
        ("출연배우들이 좋다", ("출연", "배우"), True),
        ("힘이 숨어있다", ("어", "있"), True),
        ("볼수 있다", ("볼", "수"), False),
        ("이영화 좋다", ("이", "영화"), False),
        ("영화를보고 왔다", ("를", "보"), False),
        ("갔는데,좋았다", (",", "좋"), False),
        ("갔는데 ..좋았다", (".", "좋"), True),
        ("한번도 안 봤다", ("한", "번"), False),
    ],
)
def test_a_space_is_open_where_the_rules_allow_both(text, words, is_open):
    place = text.index("".join(words)) + len(words[0]) - 1
    morphemes = [(-1, "")] * len(text)
    for number, (start, end, tag) in enumerate(mecab_tags(text)):
        morphemes[start:end] = [(number, tag)] * (end - start)
    assert space_is_open(text, place, place + 1, morphemes, True) == is_open


@pytest.mark.parametrize("words", ["'정말재미있다'고 했다", '"정말재밌다"라고 했다'])
def test_what_somebody_says_is_no_title(words):
    assert restore(words).text.count(" ") > words.count(" ")


@given(some.lists(some.sampled_from(RIGHT), min_size=1, max_size=4))
def test_texts_of_a_batch_are_judged_alone(texts):
    from nsmc_attention import load_restorer

    restored = load_restorer().restore_many([*texts, "배우들연기가 정말조앗는데 스토리가별로엿다"])
    assert [each.text for each in restored] == [*texts, "배우들 연기가 정말 좋았는데 스토리가 별로였다"]


EVIDENCE = {"letter": 1, "added": 4, "removed": 3}


@given(some.sampled_from(sorted(WEIGHTS)), some.floats(0.5, 1), some.floats(0.5, 1), some.data())
def test_log_odds_rise_with_the_probability(kind, one, other, data):
    rest = data.draw(some.lists(some.floats(-9, 9), min_size=EVIDENCE[kind], max_size=EVIDENCE[kind]))[1:]
    odds = [log_odds(kind, [of_probability(each), *rest]) for each in sorted((one, other))]
    assert odds == sorted(odds) and len(WEIGHTS[kind]) == 1 + EVIDENCE[kind]


@given(some.text("가나다재밌었어요영화", min_size=1, max_size=9), some.data())
def test_letters_that_do_not_change_are_as_usual_as_before(letters, data):
    first = data.draw(some.integers(0, len(letters) - 1))
    last = data.draw(some.integers(first + 1, len(letters)))
    typed, written = of_letters(letters, [KEEP] * len(letters), first, last, load_restorer().characters)
    assert typed == written >= 0


def test_the_right_spelling_is_commoner_than_a_wrong_one():
    characters = load_restorer().characters
    typed, written = of_letters("정말재밋었다", [0, 0, 0, characters.ids["밌"], 0, 0], 3, 4, characters)
    assert written > typed


def test_people_write_a_compound_as_one_word_and_a_particle_apart_from_the_next():
    joined, apart = (usage().log_odds([text])[place] for text, place in (("현재진행형", 1), ("영화를보고", 2)))
    assert joined < 0 < apart


@pytest.mark.parametrize(
    "text",
    ["현재진행형으로 영향을 받는다", "<i>인생영화</i>입니다", "이런 이야기는 흔하디흔하지", "다시 한번 보고 싶다"],
)
def test_what_most_people_join_stays_one_word(text):
    assert restore(text).text == text


@pytest.mark.parametrize(
    "wrong, right",
    [
        ("한번도 안 봤다", "한 번도 안 봤다"),
        ("두번 봤는데 또 보고 싶다", "두 번 봤는데 또 보고 싶다"),
        ("정말 좋은거 같다", "정말 좋은 거 같다"),
        ("못본 사람이 없을 정도다", "못 본 사람이 없을 정도다"),
        ("배우 들의 연기가 빛났다", "배우들의 연기가 빛났다"),
        ("정말 재미잇게 봤습니다", "정말 재미있게 봤습니다"),
    ],
)
def test_one_error_is_corrected(wrong, right):
    assert restore(wrong).text == right


@pytest.mark.parametrize(
    "typed, restored",
    [
        ("VOD로 볼수 있도록 올려주세요.", "VOD로 볼 수 있도록 올려주세요."),
        ("갑자기 야한장면 나와서 깜놀했네", "갑자기 야한 장면 나와서 깜놀했네"),
        ("유해진씨 연기 만으로도 재밌는 영화입니다", "유해진씨 연기만으로도 재밌는 영화입니다"),
        ("한번빠지면 헤어나올수 없는 드라마", "한번 빠지면 헤어나올 수 없는 드라마"),
    ],
)
def test_an_unlikely_space_is_not_set_beside_an_error(typed, restored):
    assert restore(typed).text == restored


@pytest.mark.parametrize(
    "typed, restored",
    [
        ("정 말 재미있 는 영 화 Kill Bill 과 Star Wars 를 봤 다", "정말 재미있는 영화 Kill Bill과 Star Wars를 봤다"),
        ("#영화 #추천 재 미 있 었 다 진 짜 로", "#영화 #추천 재미있었다 진짜로"),
        ("생각보 다볼거리 가많고 음 악도좋았 다", "생각보다 볼거리가 많고 음악도 좋았다"),
        ("반전 이좋았다 , 볼만한 영화 .", "반전이 좋았다, 볼만한 영화."),
        # spaces that an editor leaves
        ("배 감 귤 밤 콩 팥 무 파", "배 감 귤 밤 콩 팥 무 파"),
        ("물 불 흙 공기 네 가지 원소", "물 불 흙 공기 네 가지 원소"),
    ],
)
def test_a_text_with_spaces_anywhere_is_read_without_them(typed, restored):
    assert restore(typed).text == restored
