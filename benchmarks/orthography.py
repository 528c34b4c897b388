"""Spaces that 한글 맞춤법 decides and kiwi, or reviewers, mostly set otherwise: rules for sentences that have spaces.

Each rule is a pattern and what takes its place; they differ in spaces alone. Articles are those of 한글 맞춤법. Words and
affixes of the dictionary are those of 표준국어대사전.
"""

import re

from nsmc_attention.text.hangul import parts

# How 하다, 되다 and 드리다 begin; the syllables that end on the vowel of 아 or 어
DO, BECOME, GIVE = "[하해했한할합함]", "[되돼된될됐됩됨]", "드[리려렸립릴린림]"
OPEN = "".join(chr(code) for code in range(ord("가"), ord("힣") + 1, 28) if parts(chr(code))[1] in "ㅏㅐㅓㅔㅕㅘㅙㅝ")
# Nouns that say what is done, before the affixes -드리다 and -받다
GIVEN = "감사|축하|추천|강추|부탁|말씀|인사|사과|연락"
RECEIVED = (
    "감동|강요|구원|대우|버림|사랑|상처|소외|오해|용서|위로|위안|의심|인정|존경|주목|차별|초대|칭찬|치유|평가|환영"
)
# What may follow the noun 데 where it has no particle; and the words before it that are never endings
NEED = (
    "성공|실패|도움|일조|한몫|기여|필요|그치|급급|걸[리린렸릴]|쓰|쓴|이유|충분|주력|집중|초점|탁월|능하|능숙|돈|시간|평생|의미|큰|무리"
    "|어려움|지장|한계|보탬|[0-9]"
)
THIS = "그런|이런|저런|다른|딴|먼|어떤|아무런"
TIME = r"(?:\d+|[한두세네몇십]|[일이삼사오육칠팔구](?=년)|수십) ?(?:년|달|개월|주|시간|해(?![가-힣]))|오래 ?[되됐된]|얼마 ?[안되지]"
RULES = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # article 2: endings and the verb after them
        (rf"(?<=[가-힣])(게|고자|려고|[다라자냐]고|기는|(?<!요)긴|기도|기만|으면)(?={DO})", r"\1 "),
        (rf"(?<=[{OPEN}])(야만?)(?={DO}|{BECOME})", r"\1 "),
        (rf"(싶어|[에이] 들어)(?={DO})", r"\1 "),
        # endings that kiwi takes for the nouns 데 and 지, and the other way round (article 42)
        (r"(?<=[있없었았였겠했됐갔왔봤]는) 데(?=도?(?![가-힣]))", "데"),
        (rf"(?<![가-힣])(?!(?:{THIS}) )([가-힣]+[는은한운쁜픈]) 데(?=도?(?![가-힣]))(?! (?:{NEED}))", r"\1데"),
        (r"(?<=[있없었았겠밌하되가오보]는) 지(?=[도를가]?(?![가-힣]))", "지"),
        (rf"(?<=[본산된간온난한은])지 (?={TIME})", " 지 "),
        # auxiliaries and affixes that are one word with what is before
        (rf"지 못 (?={DO})", "지 못"),
        (r"(?<=[못머]지) 않", "않"),
        (rf"({GIVEN}) (?={GIVE})", r"\1"),
        (rf"({RECEIVED}) (?=받(?!아들))", r"\1"),
        # words of the dictionary
        (r"재미 (?=[있없])", "재미"),
        (r"(?<![가-힣])([이그저]) (?=(?:거|걸|건|게)(?![가-힣]))", r"\1"),
        (r"(?<![가-힣])그 (?=동안|때(?![가-힣])|중[에의엔])", "그"),
        (r"흥미 진진", "흥미진진"),
        (r"(?<![가-힣])(신|기억|생각) (?=[나난났날납])", r"\1"),
        (r"(빠져|파고|스며) (?=[드들든])", r"\1"),
    )
]


def by_rules(text: str) -> str:
    """Return a sentence with the spaces that the rules decide."""
    for pattern, replacement in RULES:
        text = pattern.sub(replacement, text)
    return text
