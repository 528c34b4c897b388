import re
from collections import Counter
from pathlib import Path

import numpy
import pandas
import pytest

from nsmc_attention import Aspect, aspects, load_classifier, predict
from nsmc_attention.apps.aspects import aspects as reading
from nsmc_attention.apps.aspects.aspects import AspectReader
from nsmc_attention.apps.aspects.clauses import FILM_WORDS, FOLDER, FORMS, GOODS, clauses, read_words
from nsmc_attention.classifier.explain import Explainer
from nsmc_attention.corpora import nsmc
from nsmc_attention.errors import DataError
from nsmc_attention.machine.files import read_rows
from nsmc_attention.measure.metrics import log_odds
from nsmc_attention.text.encoding import clean

MARKED = Path(__file__).parents[3] / "benchmarks/classification"
SENTENCES = MARKED / "aspect_sentences.tsv"


@pytest.fixture(scope="module")
def reader():
    return AspectReader(load_classifier())


@pytest.fixture(scope="module")
def texts():
    written = [row["document"] for row in read_rows(SENTENCES)]
    return [clean(text) for text in [*written, *nsmc.load("sample", "test").documents, "연기 " * 200 + "좋다. " * 90]]


def sides(text, find=aspects):
    return {aspect.name: aspect.label and aspect.label[:3] for aspect in find(text)}


@pytest.mark.parametrize(
    "text, expected",
    [
        ("연기는 좋은데 스토리가 별로", {"연기": "pos", "이야기": "neg"}),
        ("영상은 화려한데 감동은 없다", {"영상": "pos", "감동": "neg"}),
        ("연기는좋은데스토리가별로", {"연기": "pos", "이야기": "neg"}),
        ("연기 최고 스토리 최악", {"연기": "pos", "이야기": "neg"}),
        ("연기, 연출, 음악 다 좋았습니다", {"연기": "pos", "연출": "pos", "음악": "pos"}),
        ("촬영이 예술이다. 하지만 각본은 쓰레기다.", {"영상": "pos", "이야기": "neg"}),
        ("정말 좋았어요 연기가", {"연기": "pos"}),
        ("음악 빼고 볼 게 없다", {"음악": "pos"}),
        ("결말 말고는 다 좋았다", {"결말": "neg"}),
        ("음악만 좋음", {"음악": "pos"}),
        ("배우들이 아깝다", {"연기": "pos"}),
        ("음악이 조금만 더 좋았으면", {"음악": "neg"}),
        ("연기 👍 스토리 👎", {"연기": "pos", "이야기": "neg"}),
        ("연기", {"연기": None}),
        *((text, {}) for text in ("", "재미있게 봤습니다", "This is great acting", "액션 영화 좋아함", "1234")),
    ],
)
def test_each_aspect_has_its_own_side_and_what_names_none_has_none(text, expected):
    assert sides(text) == expected


def test_clauses_cover_the_text_and_do_not_overlap(texts):
    for text in texts:
        if parts := clauses(text, FILM_WORDS):
            ends = [0, *(part.end for part in parts)]
            gaps = [text[end : part.start] for end, part in zip(ends, parts)] + [text[ends[-1] :]]
            assert not "".join(gaps).strip() and all(part.start < part.end for part in parts)


def test_contributions_of_clauses_and_the_constant_add_up_to_the_log_odds(reader, texts, monkeypatch):
    """Of the clauses that name no aspect, too: they are what the rest is."""
    sums, mentions = [], AspectReader.mentions
    monkeypatch.setattr(
        AspectReader,
        "mentions",
        lambda self, text, parts, own, *rest: (sums.append((text, own)), mentions(self, text, parts, own, *rest))[1],
    )
    probability, (added,) = Explainer(reader.classifier).scored(reader.classifier.encoder.encode_many(["영화"]))
    constant = log_odds(probability)[0] - added.sum()
    found = {text: each for text, each in zip(texts, reader(texts)) if each}
    assert len(found) > 200 and {text for text, _ in sums} == set(found)
    whole = log_odds(reader.classifier.probabilities([text for text, _ in sums]), 1e-7)
    # float32 tells no probabilities apart that are nearer to 0 or 1
    totals = numpy.clip([constant + sum(own) for _, own in sums], *log_odds([0, 1], 1e-7))
    assert numpy.allclose(totals, whole, atol=2e-3)
    for text, own in sums:
        named = {}
        for aspect, _ in found[text]:
            named[aspect.start, aspect.end] = named.get((aspect.start, aspect.end), 0.0) + aspect.contribution
        by_span = {(part.start, part.end): each for part, each in zip(clauses(text, FILM_WORDS), own)}
        assert all(abs(by_span[span] - value) < 1e-6 for span, value in named.items())


def test_a_text_alone_has_the_aspects_that_it_has_among_others(reader, texts):
    for together, text in zip(reader(texts[::7]), texts[::7]):
        (alone,) = reader([text])
        one, other = ([(a.name, a.label, a.start, a.end) for a, _ in found] for found in (together, alone))
        assert one == other


def test_most_written_sentences_are_judged_as_marked(reader):
    """56 of 60 is what is asked for; sentences that nothing was chosen by."""
    rows = [row for row in read_rows(SENTENCES) if row["half"] == "report"]
    counts = Counter()
    for row, found in zip(rows, reader([row["document"] for row in rows])):
        marks = {mark[:-1]: mark[-1] == "+" for mark in row["marks"].split()}
        by_name = {name: odds > 0 for name, odds in reading.by_name(found).items()}
        counts.update(marks=len(marks), right=sum(by_name.get(name) == side for name, side in marks.items()))
    assert counts["right"] >= counts["marks"] * 56 / 60


def test_a_prediction_is_read_as_its_text():
    assert aspects(predict(" 연기는  좋은데 스토리가 별로 ")) == aspects("연기는 좋은데 스토리가 별로")
    assert aspects("연기는 좋다")[0]._fields == Aspect._fields == ("name", "label", "contribution", "start", "end")


def test_every_word_of_the_list_is_found_and_has_a_reason():
    rows = list(read_rows(FOLDER / "aspects.tsv"))
    assert [row["word"].lower() for row in rows] == list(FILM_WORDS.aspects) and all(row["reason"] for row in rows)
    assert all(FILM_WORDS.pattern.fullmatch(word) for word in FILM_WORDS.aspects)
    # the forms are patterns as they are
    assert not set("".join(FORMS)) & set(".?*+|()[]")
    assert set(GOODS.values()) == set("pbndfs") and all(row["reason"] for row in read_rows(FOLDER / "goods.tsv"))


@pytest.fixture
def write(tmp_path):
    def written(text, name="words.csv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return written


def test_words_of_ones_own_replace_those_of_films(write):
    path = write("word,aspect\n배송,배송\n배송비,가격\nA/S,수리\n배송 사고,-\n")
    text = "배송은 빠른데 배송비가 비싸다. a/s는 좋다. 배송 사고. 연기 별로"
    found = aspects(text, words=path)
    assert [text[each.start : each.end] for each in found][:2] == ["배송은 빠른데", "배송비가 비싸다."]
    assert [each.name for each in found] == ["배송", "가격", "수리"]
    assert aspects(text, words=pandas.read_csv(path)) == found


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("a.csv", "word,aspect\n배송,배송\n배송,가격", "row 3: expected .* word once, found '배송' again"),
        ("a.csv", "word,aspect\n배송,배송\n가격,", "row 3: .*, found '가격' alone"),
        ("a.csv", "word,aspect\n배송,label", "expected aspects that are no output columns, found label"),
        ("a.csv", "word,aspect\n", "expected aspects that are no output columns, found nothing"),
        ("a.csv", "", "the file is empty; expected .*; expected a table with the columns word and aspect"),
        ("a.csv", "word,topic\n배송,배송", "expected a column 'aspect', found word, topic"),
        ("a.csv", "단어,aspect\n배송,배송", "expected a column 'word', found 단어, aspect"),
        ("a.txt", "배송\n가격\n", "expected a column 'word', found lines of text"),
    ],
)
def test_a_wrong_list_is_refused_in_one_line(write, name, text, message):
    path = write(text, name)
    with pytest.raises(DataError, match=f"^--aspects-file {re.escape(str(path))}.*{message}") as refused:
        aspects("배송이 빠르다", words=path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "words, message",
    [
        (pandas.DataFrame({"word": ["배송"]}), "^words: DataFrame: expected a column 'aspect', found word; exp"),
        (pandas.DataFrame({"word": ["배송"] * 2, "aspect": ["가", "나"]}), "DataFrame row 1: .* found '배송' again"),
        (["배송"], "^words: list: expected a column 'word', found nothing"),
    ],
)
def test_a_wrong_list_in_python_is_refused_in_one_line(words, message):
    with pytest.raises(DataError, match=message):
        aspects("배송이 빠르다", words=words)


@pytest.fixture(scope="module")
def goods():
    return AspectReader(load_classifier(), read_words(MARKED / "goods_words.tsv"))


def test_of_goods_few_sides_are_wrong_and_most_are_right(goods):
    """95 of 100 of those with a side are right; where the classifier knows too little there is none."""
    rows = list(read_rows(MARKED / "goods_sentences.tsv"))
    counts = Counter()
    for row, found in zip(rows, goods([row["document"] for row in rows])):
        odds = reading.by_name(found)
        for name, praised in ((mark[:-1], mark[-1] == "+") for mark in row["marks"].split()):
            counts[(odds[name] > 0) == praised if name in odds else "undecided"] += 1
    assert counts[True] >= 0.75 * counts.total() and counts[False] <= 0.05 * (counts[True] + counts[False])


@pytest.mark.parametrize(
    "text, side",
    [
        ("배송이 빨라요", "pos"),
        ("배송이 빠르지 않아요", "neg"),
        ("배송이 안 늦었어요", "pos"),
        ("포장이 별로", "neg"),
        ("배송은 추천 안 해요", "neg"),
        ("배송이 더 빨랐으면 좋겠어요", "neg"),
        ("배송이 안 돼요", "neg"),
        ("배송", None),
        ("배송이 오늘 왔어요", None),
        ("어제 배송을 시켰다", None),
        ("포장이 없어요", None),
        ("포장이 없어서 쾌적해요", "pos"),
        ("배송 오류가 해결됐어요", "pos"),
    ],
)
def test_of_goods_a_side_needs_a_word_that_says_it(goods, text, side):
    found = sides(text, lambda text: [aspect for aspect, _ in goods([text])[0]])
    assert found == {re.search("배송|포장", text)[0]: side}


def test_the_side_of_goods_does_not_depend_on_what_they_are_called(goods):
    """Of a film, 서비스는 좋다 is not praise: the words beside it in reviews of films speak against it."""
    for said, side in [("정말 좋아요", "positive"), ("최악이에요", "negative"), ("비싸요", "negative")]:
        assert {goods([f"{name}가 {said}"])[0][0][0].label for name in ("서비스", "커피", "국물", "속도")} == {side}


def test_a_clause_beside_it_alone_gives_goods_no_side(goods):
    """In a review of a film an unclear clause has the side of the review, or the other one beside a "but"."""
    for text in ("배송은 어제 왔는데 포장이 최악", "배송은 어제 왔고 포장이 최고예요. 최고 최고"):
        sides = {aspect.name: aspect.label for aspect, _ in goods([text])[0]}
        assert sides["배송"] is None and sides["포장"] is not None


def test_goods_are_read_with_their_words_only_by_the_packaged_classifier(goods, tiny_convolution):
    adapted = AspectReader(load_classifier(tiny_convolution), goods.user_words)
    assert goods.words.goods and not adapted.words.goods and not AspectReader(goods.scorer).words.goods


def test_predict_adds_a_column_for_each_aspect(command, tmp_path, write):
    table = write("document,연기\n연기는 좋은데 스토리가 별로,1\n,2\n재밌다,3\n", "a.csv")
    done = command("predict", "--input", table, "--output", tmp_path / "b.csv", "--aspects")
    assert done.returncode == 0, done.stderr
    rows = pandas.read_csv(tmp_path / "b.csv", keep_default_na=False).to_dict("records")
    assert list(rows[0])[:2] == ["document", "연기"] and len(rows[0]) == 2 + 4 + 9
    assert rows[0]["predicted_연기"] == "positive" and rows[0]["predicted_이야기"] == "negative"
    assert not rows[1]["predicted_연기"] and not rows[1]["predicted_이야기"] and "blank" in rows[1]["predicted_error"]
    assert not rows[2]["predicted_연기"] and rows[2]["predicted_label"] == "positive"


def test_a_line_of_text_ends_with_the_aspects(command):
    done = command("predict", "연기는 좋은데 이야기가 별로", "좋다", "--aspects")
    first, second = (line.split("\t") for line in done.stdout.splitlines())
    assert first[4:] == ["연기: positive", "이야기: negative"] and second[2] == "좋다" and len(second) == 4


def test_restored_texts_and_shares_keep_their_columns(command):
    options = ["--restore", "--aspects", "--share", "0.8", "-f", "csv"]
    done = command("predict", "배우들연기가 정말조앗는데 스토리별로", *options)
    assert done.returncode == 0, done.stderr
    names, values = (line.split(",") for line in done.stdout.splitlines()[:2])
    assert {"restored", "연기", "label_by_share"} <= set(names) and dict(zip(names, values))["연기"] == "positive"


def test_a_process_of_its_own_loads_the_same_reader(reader):
    reference = AspectReader(reader.scorer).reference
    assert hash(reference) == hash(AspectReader(reader.scorer).reference)
    texts = ["연기는 좋은데 스토리가 별로", ""]
    assert reference.load("cpu", 1).rows(texts) == reader.rows(texts)


def test_a_long_review_that_praises_a_thousand_times_is_reported(command, tmp_path, write):
    table = write("document\n" + "연기는 좋은데 스토리가 별로. " * 625 + "\n음악이 최고\n", "a.csv")
    done = command("report", table, "--output", tmp_path / "a.html", "--tables", tmp_path / "tables")
    assert done.returncode == 0, done.stderr
    found = (tmp_path / "tables/aspects.csv").read_text(encoding="utf-8-sig")
    assert {line.split(",")[0] for line in found.splitlines()[1:]} == {"연기", "이야기", "음악"}
