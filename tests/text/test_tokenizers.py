import shutil

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.errors import TokenizerError
from nsmc_attention.text.encoding import clean
from nsmc_attention.text.tokenizers import align, mecab_tags, tokenizer, tokenizer_version

needs_java = pytest.mark.skipif(not shutil.which("java"), reason="needs a Java runtime")
WITHOUT_JAVA = ["mecab", "characters", "whitespace"]
SENTENCE = "정말 재미있는 영화였어요ㅋㅋ 했다!!"


def test_mecab_keeps_nothing_of_long_texts():
    morphs, text, memory = tokenizer("mecab"), "감동 " * 3000, psutil.Process().memory_info
    for _ in range(20):
        morphs(text)
    before = memory().rss
    for _ in range(100):
        morphs(text)
    # a copy of each would be 2.7 MB
    assert memory().rss - before < 1_000_000


@pytest.mark.parametrize("name", WITHOUT_JAVA)
@given(review=st.text())
def test_offsets_give_back_the_tokens_of_any_text(name, review):
    text = clean(review)
    tokens = tokenizer(name)(text)
    assert [text[start:end] for start, end in align(text, tokens)] == tokens
    assert "".join(tokens) == "".join(text.split())


@pytest.mark.system
@pytest.mark.parametrize("name", ["okt", "komoran", "hannanum", "kkma"])
@needs_java
def test_java_taggers_give_tokens_with_ordered_spans(name):
    tokens = tokenizer(name)(SENTENCE)
    spans = align(SENTENCE, tokens)
    assert len(tokens) > 5 and len(spans) == len(tokens)
    assert all(0 <= start <= end <= len(SENTENCE) for start, end in spans)
    assert [start for start, _ in spans] == sorted(start for start, _ in spans)
    assert tokenizer(name)("") == []


def test_an_unknown_tokenizer_names_the_nearest():
    with pytest.raises(TokenizerError, match=r"unknown tokenizer 'mecba'; did you mean 'mecab'\?"):
        tokenizer("mecba")


def test_without_java_the_message_says_what_to_do(monkeypatch):
    import jpype

    from nsmc_attention.text import tokenizers

    def no_java(*args, **kwargs):
        raise jpype.JVMNotFoundException("none")

    monkeypatch.setattr(jpype, "getDefaultJVMPath", no_java)
    monkeypatch.setattr(jpype, "isJVMStarted", lambda: False)
    tokenizers.tokenizer.cache_clear()
    with pytest.raises(TokenizerError, match="'okt' runs on Java: expected a Java runtime, found none"):
        tokenizer("okt")


def test_the_version_names_what_decides_the_tokens():
    assert tokenizer_version("mecab") == "python-mecab-ko 1.3.7, python-mecab-ko-dic 2.1.1.post2"
    assert (tokenizer_version("okt"), tokenizer_version("characters")) == ("konlpy 0.6.0", "")


@pytest.mark.parametrize("name", ["mecab", "characters", "whitespace"])
def test_a_tokenizer_is_built_once_and_reads_so_much(name):
    assert tokenizer(name) is tokenizer(name)
    assert len("".join(tokenizer(name)("가" * 10_001))) == 10_000
    assert tokenizer(name)("") == []


def test_tags_stand_where_their_morphemes_do():
    assert mecab_tags("영화 좋다") == [(0, 2, "NNG"), (3, 4, "VA"), (4, 5, "EC")]
    assert mecab_tags("") == []
    assert mecab_tags("가" * 10_050)[-1][1] <= 10_000


@pytest.mark.parametrize(
    "text, tokens, spans",
    [
        ("가 나", ["가", "나"], [(0, 1), (2, 3)]),
        ("가가", ["가", "가"], [(0, 1), (1, 2)]),
        ("", [], []),
        # 하 and 았 share 했; what stands nowhere is empty, after what came before
        ("그 했다", ["그", "하", "았", "다"], [(0, 1), (2, 3), (2, 3), (3, 4)]),
        ("가나", ["가", "x", "나"], [(0, 1), (0, 0), (1, 2)]),
        ("가나", ["x"], [(0, 0)]),
        ("가나", ["가", "나", "x"], [(0, 1), (1, 2), (1, 1)]),
        ("했", ["하", "았"], [(0, 1), (0, 1)]),
        # not in order: the longest run is found
        ("가나다", ["나다"], [(1, 3)]),
        # letters that are frequent in a long text
        ("해" + "하" * 250, ["하", "아", *"하" * 250], [(0, 1), (0, 0), *((at, at + 1) for at in range(1, 251))]),
    ],
)
def test_where_tokens_stand(text, tokens, spans):
    assert align(text, tokens) == spans
