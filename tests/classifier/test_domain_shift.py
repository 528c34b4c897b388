"""Tables unlike film reviews: what is said of them, and of which nothing is."""

import re

import numpy
import pandas
import pytest

from nsmc_attention.apps.report.build import report
from nsmc_attention.classifier.domain_shift import (
    FEWEST_TEXTS,
    MOST_TEXTS,
    USUAL_CERTAINTY,
    USUAL_RANK,
    domain_shift,
    domain_warning,
    word_ranks,
)
from nsmc_attention.corpora import nsmc
from nsmc_attention.text.symbols import ENTRIES

FILMS = nsmc.load("sample", "test").documents
THINGS = ("plot", "music", "delivery", "battery", "screen")
WORDS = ("great", "boring", "too slow", "worth the money", "not what I had expected")
ENGLISH = [f"I think the {thing} was {word}." for thing in THINGS for word in WORDS]
JUNK = [f"{number * 7919 % 100_003} qzx{number}#" for number in range(30)]
SAID = "unlike the film reviews of the training"


@pytest.fixture
def table(tmp_path):
    """A function that writes a csv of texts and returns its path."""

    def write(texts):
        path = tmp_path / "mine.csv"
        pandas.DataFrame({"review": texts}).to_csv(path, index=False)
        return path

    return write


def test_film_reviews_are_like_film_reviews(packaged):
    assert [domain_shift(packaged, texts) for texts in (FILMS, FILMS[:100], FILMS[-FEWEST_TEXTS:])] == [None] * 3


@pytest.mark.parametrize("texts", [ENGLISH, JUNK, ["漢字だけの文章です"] * 20])
def test_other_texts_are_not(packaged, texts):
    found = domain_shift(packaged, texts)
    assert found.texts == len(texts) and found.rank > USUAL_RANK and found.certainty < USUAL_CERTAINTY
    assert SAID in str(found) and "label 100 rows" in str(found) and "nsmc-attention adapt FILE --out RUN" in str(found)
    assert "\n" not in str(found)


def test_fewer_than_twenty_texts_with_a_word_say_nothing(packaged):
    few = ENGLISH[: FEWEST_TEXTS - 1]
    assert domain_shift(packaged, ENGLISH[:FEWEST_TEXTS])
    assert [domain_shift(packaged, texts) for texts in (few, [*few, *10 * ["", " "]], 100 * [""])] == [None] * 3


def test_the_first_rows_are_looked_at(packaged):
    films = [FILMS[number % len(FILMS)] for number in range(MOST_TEXTS)]
    assert domain_shift(packaged, [*films, *40 * ENGLISH]) is None
    assert domain_shift(packaged, [*40 * ENGLISH, *films]).texts == MOST_TEXTS


def test_rank_and_certainty_are_means_over_words_and_over_texts(packaged):
    encoder, texts = packaged.bundle.codec, ["영화", "漢"]
    found = domain_shift(packaged, [*texts * 10, ""])
    # before the words are the two special tokens and the symbols, which are no words
    ranks = [encoder.token_to_idx["영화"] + 1 - len(ENTRIES), len(encoder)]
    assert found.texts == 20 and found.rank == round(numpy.exp(numpy.log(ranks).mean()))
    probability = packaged.probabilities(texts)
    odds = abs(numpy.log(probability / (1 - probability))).mean()
    assert found.certainty == round(100 / (1 + numpy.exp(-odds)))
    assert word_ranks(encoder)[[encoder.token_to_idx[entry] for entry in ENTRIES]].tolist() == [0] * len(ENTRIES)


def test_predict_says_it_on_stderr_and_changes_nothing_else(command, table):
    path = table(ENGLISH)
    done, lines = (command("predict", "-f", "csv", *given) for given in (["--input", path], ENGLISH))
    assert done.returncode == 0 and done.stderr.count(SAID) == 1 and done.stderr.startswith(f"{path}: ")
    assert done.stdout.splitlines()[1:] == lines.stdout.splitlines()[1:] and lines.stderr.startswith("TEXT: ")
    assert not command("predict", FILMS[0]).stderr


@pytest.mark.parametrize("kind", [[], ["--restore"], ["--format", "jsonl"], ["--output", "scored.xlsx"]])
def test_a_table_is_spoken_of_once_however_it_is_scored(command, table, kind, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert command("predict", "--input", table(ENGLISH), *kind).stderr.count(SAID) == 1
    assert SAID not in command("predict", "--input", table(FILMS), *kind).stderr


@pytest.mark.parametrize("texts", [ENGLISH[:1], ["漢字だけ", "good", "좋아요"]])
def test_texts_without_hangul_are_spoken_of_however_few_they_are(command, table, texts):
    count = sum(text != "좋아요" for text in texts)
    said = f"{count} of {len(texts)} text{'s' * (len(texts) != 1)} {'has' if count == 1 else 'have'} no Hangul"
    done = command("predict", *texts)
    assert done.returncode == 0 and done.stderr.startswith(f"TEXT: {said}")
    assert said in command("predict", "--input", table(texts)).stderr


def remarks(done):
    """What is said on stderr but for the column of the texts and the share of positive reviews."""
    return [line for line in done.stderr.splitlines() if not re.search(": (texts are read|positive reviews)", line)]


@pytest.mark.parametrize("texts", [["ㅋㅋㅋ"], ["good", "좋아요"], FILMS[: FEWEST_TEXTS - 1], ["10/10"], ["..."]])
def test_few_texts_with_hangul_or_without_letters_are_not(command, table, texts):
    assert not remarks(command("predict", "--input", table(texts))) and not command("predict", *texts).stderr


def test_texts_without_a_letter_do_not_hide_foreign_ones(packaged):
    assert (domain_warning(packaged, ["good", "", "10/10"]) or "").startswith("1 of 3 ")
    assert not domain_warning(packaged, ["", "10/10", "좋다"])


def test_lines_of_standard_input_are_spoken_of_after_the_last(command):
    assert not command("predict", "-", stdin="좋은 영화\n").stderr
    done = command("predict", stdin="so good\nso bad\n")
    assert done.stderr.startswith("stdin: 2 of 2 texts have no Hangul") and len(done.stdout.splitlines()) == 2
    # of the first ones alone
    lines = [*(FILMS * MOST_TEXTS)[:MOST_TEXTS], *["so bad"] * 2 * MOST_TEXTS]
    assert not command("predict", stdin="\n".join(lines)).stderr


def test_other_bundles_are_not_spoken_of(command, table, bundle_folder):
    assert not remarks(command("predict", "--input", table(ENGLISH), "--bundle", bundle_folder))
    assert not command("predict", ENGLISH[0], "--bundle", bundle_folder).stderr


@pytest.mark.parametrize(
    "language, said",
    [("ko", "모델이 학습한 영화 리뷰와 다른 텍스트입니다"), ("en", "unlike the film reviews that the model")],
)
def test_a_report_says_it_at_the_top_and_in_its_language(packaged, table, tmp_path, language, said, capsys):
    page = tmp_path / "report.html"
    # a table of English alone has no label to report
    report(packaged, table([f"{text} 배송 포장 사이즈 환불" for text in ENGLISH]), page, language=language)
    assert SAID in capsys.readouterr().err
    top = page.read_text(encoding="utf-8").partition('<dl class="figures">')[0]
    (line,) = [each for each in re.findall('<p class="warning">(.*?)</p>', top) if said in each]
    assert "100" in line and "nsmc-attention adapt FILE --out RUN" in line and f"{USUAL_CERTAINTY}\u00a0%" in line
    report(packaged, table(FILMS), page, language=language)
    assert said not in page.read_text(encoding="utf-8")
