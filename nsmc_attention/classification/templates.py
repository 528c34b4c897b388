"""Sentences by the thousand from Korean templates: negation, double negation, contrast, comparison.

To train with, beside reviews: the templates are in the manner of CheckList (Ribeiro et al. 2020, arXiv:2005.04118), and
most come in pairs that differ in a few words and in the label (counterfactual augmentation: Kaushik et al. 2020,
arXiv:1909.12434). No sentence of the behavioural suite is among them (evaluation/behaviour.tsv).
"""

import re
from typing import Any

import pandas
from numpy.random import RandomState

from ..evaluation.behaviour import cases
from ..text.hangul import parts

# By what words end on: before 않다, 은데, before a noun, before 줄 알았는데, and finished
ENDINGS = {
    "하": "하지 한데 한 할 해요 하다 함 하네요 했다 했어요 해",
    "있": "지 는데 는 을 어요 다 음 네요 었다 었어요 어",
    "좋": "지 은데 은 을 아요 다 음 네요 았다 았어요 아",
    "지": "지지 진데 진 질 져요 지다 짐 지네요 졌다 졌어요 져",
    "적": "적이지 적인데 적인 적일 적이에요 적이다 적임 적이네요 적이었다 적이었어요",
    "스": "스럽지 스러운데 스러운 스러울 스러워요 스럽다 스러움 스럽네요 스러웠다 스러웠어요",
}
SHORT, COLUMNS = 5, "지데ㄴㄹ"
# Of label 0 and of label 1; the first SHORT take 안
STEMS = (
    "지루+하 유치+하 뻔+하 어색+하 답답+하 시시+하 엉성+하 재미없+있 진부+하 억지+스 실망+스",
    "재밌+있 좋+좋 멋+지 괜찮+좋 감동+적 훌륭+하 신선+하 기발+하 매력+적 인상+적 만족+스",
)
SPLIT = [[word.split("+") for word in words.split()] for words in STEMS]
WORDS = [[[stem + each for each in ENDINGS[kind].split()] for stem, kind in words] for words in SPLIT]
# Slots by name; _ is a space within a filling, * nothing
FILLINGS = {
    "main": "영화 스토리 이야기 내용 전개 결말 작품 연출 줄거리 각본 시나리오",
    "side": "연기 액션 음악 영상 소재 대사 설정 캐릭터 분위기 영상미",
    "work": "영화 작품 스토리 이야기 연출 전개 결말",
    "part": "장면 대사 부분 순간 대목 에피소드 구간",
    "other": "전작 원작 소설 만화 드라마 1편 전편 예고편 다른_영화 요즘_영화 옛날_영화 비슷한_영화",
    "never": "전혀 하나도 결코 조금도 절대 * *",
    "hardly": "별로 그다지 딱히",
    "very": "너무 정말 진짜 완전 아주 의외로 확실히 * *",
    "more": "훨씬 더 백배 몇_배는 확실히 *",
    "lead": "솔직히 진짜 정말 확실히 개인적으로 * *",
    "after": "보면 보고_나면 도저히 솔직히 정말 진짜 * *",
    "않": "않다 않아요 않음 않네요 않았다 않았어요 않았음 않습니다 않아 않더라",
    "없": "없다 없어요 없음 없네요 없었다 없었어요 없었음 없습니다 없어 없더라",
    "못": "못하다 못해요 못함 못하네요 못했다 못했어요 못합니다 못해",
    "낫": "낫다 나아요 나음 낫네요 나았다 나았어요 낫습니다 나아 낫더라",
    "이다": "이다 이에요 임 이네요 입니다 이었다 이었어요",
    "되": "돼요 된다 됨 되네요 됐다 됐어요 됩니다 돼",
    "겠": "겠다 겠어요 겠음 겠네요 겠습니다 겠어",
    "웃": "웃겨요 웃기다 웃김 웃기네요 웃겼다 웃겼어요 웃겨",
    "flaw": "지루할_새 흠잡을_데 나무랄_데 군더더기 버릴_컷 빈틈 부족함 아쉬움 실망할_일 더_바랄_것",
    "virtue": "재미 감동 긴장감 개연성 매력 내용 볼거리 알맹이 설득력 몰입감 깊이 완성도",
    "smooth": "매끄럽지 자연스럽지 깔끔하지 친절하지 세련되지 새롭지",
    "mind": "몰입 공감 집중 이해 납득",
    "cost": "돈 시간 티켓값 영화표",
    "now": "이_영화 이거 이걸 지금 극장에서 이_작품 * *",
    "regret": "후회한다 후회해요 후회함 후회할_거예요 손해다 손해예요 손해임 손해입니다 평생_후회합니다",
    "praised": "싫어할 미워할 안_좋아할 좋아하지_않을 칭찬하지_않을 추천하지_않을 감탄하지_않을 빠져들지_않을 안_웃을 안_반할",
    "blamed": "실망하지_않을 욕하지_않을 안_졸 졸지_않을 하품하지_않을 후회하지_않을 비난하지_않을 화내지_않을 좋아할 칭찬할",
    "winner": "승자다 승자예요 승자임 승자네요 승자입니다 현명하다 현명한_거예요",
    "me": "나한테는 저한테는 나한텐 저한텐 제겐",
    "modest": "기대_안_했는데 기대_없이_봤는데 기대_안_하고_봤는데 평점이_낮아서_걱정했는데 원래_이런_장르_안_좋아하는데 남들은_별로라는데",
    "eager": "기대했는데 기대_많이_했는데 기대하고_봤는데 평점이_높아서_봤는데 추천받아서_봤는데 좋아하는_배우라서_봤는데 남들은_재밌다는데",
    "!0": "별로다 별로예요 별로네요 별로임 별로였다 별로 엉망이다 엉망이에요 최악이다 최악이에요 최악임 망했다 망했네요 꽝이다",
    "!1": "최고다 최고예요 최고네요 최고임 최고였다 최고 대박이다 대박이네요 압권이다 압권이네요 완벽하다 완벽해요 짱이다",
    "tail": "* * * * . .. ... ! !! ~ _ㅋㅋ ㅋㅋㅋ _ㅎㅎ _ㅠㅠ",
}
SLOTS = {name: [each.replace("_", " ").strip("*") for each in text.split(" ")] for name, text in FILLINGS.items()}
# Those of both labels, those of 0, those of 1, by ;. <+..> is a word of the label's kind, <-..> one of the other's
TEMPLATES = {
    "negation": (
        "<main><이/가> <never> <-지> <않>; <side><이/가> <never> <-지> <않>; <never> <-지>가 <않>; <lead> <-지> 않은 <work>; "
        "<main><이/가> <never> 안 <-안다>; <never> 안 <-안다>; <-지> 않고 <very> <+다>; <main><이/가> <-지> 않아서 <very> <+다>",
        "<virtue><이/가> <never> <없>; <main><은/는> <virtue><이/가> <없>; <main><이/가> <smooth> <못>; <never> 안 <웃>; "
        "<main><이/가> <hardly> <-지> <않>; <mind><이/가> <never> 안 <되>; 끝까지 못 보<겠>; 추천은 못 하<겠>; 추천하고 싶지 <않>",
        "<flaw><이/가> <없>; <main>에 <flaw><이/가> <없>; 눈을 못 떼<겠>; 눈물을 못 참<겠>; <cost><이/가> <never> 아깝지 <않>; "
        "<never> 질리지 <않>; <never> 실망하지 <않>",
    ),
    "double negation": (
        "<+안지> 않은 <part><이/가> <없>; 안 <+안ㄴ> <part><이/가> <없>; <-안지>도 않고 <-안지>도 <않>; <main><이/가> <-안지>도 않고 <-안지>도 <않>",
        "<after> <blamed> 수가 <없>; <after> <blamed> 수 <없>; <now> 안 보는 게 <낫>; <now> 안 본 사람이 <winner>; <now> 볼 이유가 <없>; "
        "이 <work><은/는> 안 봐도 아쉬울 게 <없>; 이 영화 안 본다고 후회할 일은 <없>; <cost><이/가> 안 아까울 수가 <없>",
        "<after> <praised> 수가 <없>; <after> <praised> 수 <없>; <now> 안 보면 <regret>; <now> 안 볼 이유가 <없>; "
        "<main><이/가> 재미없지 <않>; 재미가 없지 <않>; 재미가 없지는 <않>; <main><이/가> 나쁘지 <않>; <lead> 후회하지 않을 <work>; "
        "<lead> 실망하지 않을 <work>; 봐도 <never> 후회하지 <않>",
    ),
    "contrast": (
        "<side><은/는> <-데> <main><이/가> <very> <+다>; <side><은/는> <-지>만 <main><은/는> <very> <+다>; "
        "<-ㄹ> 줄 알았는데 <very> <+다>; <side><은/는> <-데> <main><이/가> <!>; <side><은/는> <-지>만 <main><은/는> <very> <!>; "
        "<-ㄹ> 줄 알았는데 <main><이/가> <very> <!>; 처음엔 <-데> 뒤로 갈수록 <+다>; 초반엔 <-지>만 뒤로 갈수록 <very> <+다>",
        "<eager> <very> <+다>; <eager> <main><이/가> <+다>; <eager> <me> <very> <+다>; <eager> <very> <!>",
        "<modest> <very> <+다>; <modest> <main><이/가> <+다>; <modest> <me> <very> <+다>; <modest> <very> <!>",
    ),
    "comparison": (
        "<other>보다 <more> <+다>; <other>보다 <main><이/가> <more> <+다>; <other>보다 <more> <+ㄴ> <work>; "
        "<other>에 비해 <very> <+다>; 이보다 <+ㄴ> <work><은/는> <없>; 이것보다 <+ㄴ> <work><은/는> 못 봤다; "
        "이보다 <+ㄴ> <work><은/는> 본 적이 <없>; 이렇게 <+ㄴ> <work><은/는> 처음<이다>; 지금까지 본 영화 중에 제일 <+다>",
        "<other>보다 <more> <못>; <other>만 <못>; <other><이/가> 차라리 <낫>; <other>보다 나은 점이 <없>; <other>만큼 <-지> <않>",
        "<other>보다 <more> <낫>; <other>보다 <main><이/가> <more> <낫>; <other>에 뒤지지 <않>; <other>보다 못하지 <않>; "
        "<other>보다 못한 점이 <없>",
    ),
}


def sentences(count: int, seed: int) -> pandas.DataFrame:
    """Return `count` sentences (document, label), half of each label and a quarter of each category; the seed decides.

    A sentence comes twice only where the templates have nothing else.
    """
    random, categories = RandomState(seed), list(TEMPLATES)
    held_out, seen, rows = {letters(text) for case in cases() for text in (case.text, case.other or "")}, set(), []
    for number in range(count):
        category, label = categories[number // 2 % len(categories)], number % 2
        for _ in range(100):
            document = sentence(category, label, random)
            if letters(document) not in held_out and document not in seen:
                break
        seen.add(document)
        rows.append((document, label))
    return pandas.DataFrame(rows, columns=["document", "label"])


def sentence(category: str, label: int, random: RandomState) -> str:
    """Return a sentence. No slot takes what another one took; `<a/b>` is the particle after a consonant or a vowel."""
    both, *own = TEMPLATES[category]
    text, used = "", set[str]()
    for number, piece in enumerate(re.split("<(.+?)>", draw(f"{both}; {own[label]}".split("; "), random) + "<tail>")):
        if number % 2 == 0:
            text += piece
        elif "/" in piece:
            text += piece.split("/")[not parts(text[-1])[2]]
        else:
            forms = draw([forms for forms in fillings(piece, label) if forms[0] not in used], random)
            used |= {forms[0]} - {""}
            text += draw(forms, random)
    return respaced(" ".join(text.split()), random)


def fillings(slot: str, label: int) -> list[list[str]]:
    """Return the words that a slot may take, each by the forms that fit there."""
    if slot[0] not in "+-":
        return [[each] for each in SLOTS[slot if slot != "!" else f"!{label}"]]
    words = WORDS[label if slot[0] == "+" else 1 - label][: SHORT if "안" in slot else None]
    column = COLUMNS.find(slot[-1])
    return [forms[len(COLUMNS) :] if column < 0 else forms[column : column + 1] for forms in words]


def respaced(text: str, random: RandomState) -> str:
    """Return the text: one in twenty without spaces, one in five without one of them."""
    chance, words = random.random_sample(), text.split(" ")
    if chance < 0.05:
        return "".join(words)
    if chance > 0.25 or len(words) == 1:
        return text
    where = random.randint(1, len(words))
    return " ".join(words[:where]) + " ".join(words[where:])


def draw(options: list[Any], random: RandomState) -> Any:
    return options[random.randint(len(options))]


def letters(text: str) -> str:
    """Return what tells sentences apart: no spaces, punctuation or ㅋㅋ."""
    return re.sub("[^가-힣0-9a-z]", "", text)
