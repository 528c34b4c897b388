"""Rules of 한글 맞춤법 for spaces that kiwi or reviewers often get wrong, and for common misspellings.

A rule is a pattern and its replacement. Rules of spaces apply to sentences with spaces, and change no letter. Articles are
those of 한글 맞춤법, and words and affixes those of 표준국어대사전. If a rule cannot decide, kiwi's decision stays.
"""

import re

from nsmc_attention.systems.restore.noise import known_mistakes
from nsmc_attention.text.hangul import parts

from .spelling import known_misspellings

# How 하다, 되다, 드리다 and 보다 begin; the syllables that end on the vowel of 아 or 어
DO, BECOME, SEE = "[하해했한할합함]", "[되돼된될됐됩됨]", "[보봐봤본봅볼봄]"
GIVE = "드[리려렸립릴린림](?![가-힣]?[팀웍])"
SYLLABLES = [chr(code) for code in range(ord("가"), ord("힣") + 1)]
OPEN = "".join(each for each in SYLLABLES if parts(each)[1] in "ㅏㅐㅓㅔㅕㅘㅙㅝ" and not parts(each)[2])
# Stems of the past, after which 는 is no noun's
PAST = "".join(each for each in SYLLABLES if parts(each)[2] == "ㅆ" and each != "있")
# Nouns that say what is done, before the affixes -드리다 and -받다
GIVEN = "감사|축하|추천|강추|부탁|말씀|인사|사과|연락"
RECEIVED = (
    "감동|강요|구원|대우|버림|사랑|상처|소외|오해|용서|위로|위안|의심|인정|존경|주목|차별|초대|칭찬|치유|평가|환영"
)
# How 나다 goes on after 신, 기억 and 생각, where it is not 나오다, 나쁘다 or 나누다
COMES = r"나(?:서|고|요|네|지|면|게|니|도록|던|더|거나|는|(?![가-힣]))|난다|난(?![가-힣])|났|날(?![가-힣])|납니|남(?![가-힣])"
# The word that one of these describes stays a word
PLAIN = "".join(f"(?<!{word} )" for word in (*"한운큰픈쁜런슨떤별", "아무", "많은", "깊은", "좋은", "작은", "같은"))
# What follows the noun 데 where it has no particle: at once or after one or two words; at once; and of places
NEED = (
    "성공|실패|도움|일조|한몫|기여|필요|그[치친쳤]|급급|걸[리린렸릴]|쓰[였는인]|쓴|이유|충분|주력|집중[하해했한]|초점|탁월|능하|능숙|돈[을이]"
    "|시간[을이](?! 가)|평생|의미|무리|무난|부족|어려[움웠운]|힘[들이]|지장|한계|보탬|오래|방해|역할|문제|노력|좋[은았을]|이만한|목적|공[을이]"
    "|인색|서[툴투]|앞장|적합|유용"
)
SOON = r"큰|얼마나|동[감의]|(?:\d+|[한두세네몇십]|다섯|여섯|[일이삼사오육칠팔구]) ?(?:년|달|개월|주일|시간|분|일)(?![가-힣]{3})"
PLACE = "있[다었어을는음]|없|많[다았이]|가[고서면려 ]|와서|오[는고]|앉|이어|비[하해]|반[하해]|대[하해]|대한(?!민)|따[르라른]"
# What describes a place before it
THIS = "그런|이런|저런|다른|딴|먼|어떤|아무런|가까운"
# How long ago; after a verb, and where nothing is asked for
TIME = (
    r"(?:\d+|[한두세네몇십]|[일이삼사오육칠팔구](?=년)|수십) ?(?:년|달(?![라리려래빛])|개월|주(?:일|째|가|는|만|도|정도)?(?![가-힣])|시간"
    "|해(?![가-힣]))|오래 ?[되됐된]|얼마 ?[안되지]"
)
BEGUN = "(?:[본산온간난]|개봉한|시작한|결혼한|출시된|개봉된|방영된|제작된|종영한|시작된)"
ASKED = "왜|얼마나|어찌나|무[엇슨]|뭐|뭘|어떻게|어떤|어디|언제|누[가구]|몇 "
RULES = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # article 2: endings and the verb after them
        (
            rf"(?<=[가-힣])(게(?!하고)|(?<![가무])게|고자|려고|[다라자냐]고|기는|(?<!요)긴|(?<![벽객])기도|기만|으면)(?={DO})",
            r"\1 ",
        ),
        (rf"(?<=[{OPEN}])(야만?)(?={DO}|{BECOME})", r"\1 "),
        (rf"(싶어|[에이] 들어)(?={DO})", r"\1 "),
        # endings that kiwi takes for the nouns 데 and 지, and the other way round (article 42)
        (rf"(?<=[있없]는) 데(?=도?(?![가-힣]))(?!도? (?:{PLACE}))", "데"),
        (rf"(?<=[{PAST}밌]는) 데(?=도?(?![가-힣]))|(?<=싶은) 데(?=도?(?![가-힣]))", "데"),
        (rf"(?<=[가-힣]는) 데(?=도?(?![가-힣]))(?!도? (?:(?:[가-힣]+ ){{0,2}}(?:{NEED})|{SOON}|{PLACE}))", "데"),
        (rf"(?<![가-힣])(?!(?:{THIS}) )([가-힣]+[은한운쁜픈]) 데(?=도?(?![가-힣]))(?!도? (?:{PLACE}))", r"\1데"),
        (r"(?<=[있없었았겠밌하되가오보]는) 지(?=[도를가]?(?![가-힣]))", "지"),
        (rf"^((?:(?!{ASKED}).)*{BEGUN})지 (?={TIME})", r"\1 지 "),
        # auxiliaries and affixes that are one word with what is before
        (rf"(?<![까거바공휴먼편엄돼버아])지 못 (?={DO})", "지 못"),
        (r"(?<=[못머]지) 않", "않"),
        (rf"(?<![가-힣]){PLAIN}({GIVEN}) (?={GIVE})", r"\1"),
        (rf"(?<![가-힣]){PLAIN}((?:저|고|과소|과대|재)?(?:{RECEIVED})) (?=받(?!아들))", r"\1"),
        # words of the dictionary
        (rf"(?<![가-힣]){PLAIN}재미 (?=[있없])", "재미"),
        (r"(?<![가-힣])([이그저]) (?=(?:거|걸|건|게)(?![가-힣]))", r"\1"),
        (r"(?<![가-힣])그 (?=동안(?!미녀)|때(?!문)|중[에의엔])", "그"),
        (r"흥미 진진", "흥미진진"),
        (rf"(?<![가-힣]){PLAIN}(신|기억|생각) (?={COMES})", r"\1"),
        (r"(빠져|파고|스며) (?=들(?!어[가오와간갔온왔])|드[는네니게]|든(?!지)|듭)", r"\1"),
        (rf"(?<![가-힣])(살펴|찾아|알아|지켜|물어|훑어|눈여겨|들여다|뒤돌아|바라) (?={SEE})", r"\1"),
        (r"(?<![가-힣])도와 (?=[주줘줬준줄줌줍])", "도와"),
        (rf"(?<![가-힣])(?:(오래) (?={BECOME})|(그럴) (?=듯{DO})|(웃음) (?=소리))", r"\1\2\3"),
    )
]

RIGHT = {row["wrong"]: row["right"] for row in known_mistakes()}
MISTAKEN = re.compile("|".join(sorted(RIGHT, key=len, reverse=True)))


def respelt(text: str) -> str:
    """Return a text with the letters right that are never right as most write them: 되서, 최고에요, 몇일."""
    text = MISTAKEN.sub(lambda found: RIGHT[found[0]], text)
    for row in known_misspellings():
        if row.right:
            text = re.sub(row.pattern, row.right, text)
    return text


def by_rules(text: str) -> str:
    """Return a sentence with the spaces that the rules decide."""
    for pattern, replacement in RULES:
        text = pattern.sub(replacement, text)
    return text
