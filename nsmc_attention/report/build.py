"""From a table of reviews to a report: score it, count it, draw it, write the page."""

import sys
from pathlib import Path
from typing import Any, Optional, Union

import pandas
from tqdm import tqdm

from .._io.atomic import refuse_links, require_place, vacant, write_text
from .._io.spreadsheets import as_csv
from ..errors import ConfigError, DataError, listed
from ..evaluation.attention_statistics import by_word, token_table
from ..inference.attribution import Attribution
from ..inference.prediction import Prediction
from ..inference.predictor import Classifier
from ..reviews import tables
from ..reviews.pieces import STDIN
from .page import GROUPS, WORDS, Section, draw_groups, draw_histogram, draw_months, draw_words, report_page
from .statistics import distinctive_words, extreme_reviews, month_of, share, shares_by

# The csv files of --tables: those of every report, and all
ALWAYS = ("words_by_log_odds", "words_by_attention", "reviews")
TABLES = (*ALWAYS, "groups", "months")
NAMES = {
    "positive": "가장 긍정적인 리뷰 · Most positive",
    "negative": "가장 부정적인 리뷰 · Most negative",
    "uncertain": "가장 애매한 리뷰 · Most uncertain",
}
PathLike = Union[str, Path]
Tables = dict[str, pandas.DataFrame]


def report(
    classifier: Classifier,
    source: PathLike,
    output: PathLike,
    group_by: Optional[str] = None,
    date_column: Optional[str] = None,
    text_column: Optional[str] = None,
    tables_to: Optional[PathLike] = None,
    kind: Optional[str] = None,
    encoding: Optional[str] = None,
) -> Tables:
    """Write the report of a table of reviews as an .html page, whole or not at all; return its tables by name.

    See `reviews.tables.open_table` for source, text_column, kind and encoding. Shares are by group and by month where
    `group_by` and `date_column` name columns; `tables_to` is a folder for the tables as csv, which the page offers too. DataError if the table
    cannot be read, lacks a column, or has no review with a word; ConfigError if the output is no .html, or the folder
    for the tables holds other files.
    """
    if Path(output).suffix.lower() != ".html":
        raise ConfigError(f"{output}: expected a page that ends in .html")
    require_place(Path(output))
    if tables_to:
        check_folder(Path(tables_to))
    frame = read(source, text_column, group_by, date_column, kind, encoding)
    stream = classifier.predict_stream(frame["text"])
    shown: dict[str, Any] = {"desc": "scoring", "unit": " reviews", "disable": None, "mininterval": 0.5}
    # averaged: the weights of all reviews would be gigabytes
    predictions = [each.averaged() for each in tqdm(stream, total=len(frame), file=sys.stderr, **shown)]
    frame["probability"] = [each.probability for each in predictions]
    frame["label"] = [each.label for each in predictions]
    if frame["label"].notna().sum() < 1:
        raise DataError(f"{source}: expected reviews, found none with a word")
    found = count(frame, predictions)
    scored = frame[frame["label"].notna()]
    reviews: dict[str, list[Attribution]] = {heading: [] for heading in NAMES.values()}
    for kind, row in found["reviews"].index:
        values = predictions[row].token_weights.astype("float64")
        reviews[NAMES[kind]].append(Attribution(predictions[row], values, "attention", classifier.bundle.name))
    name = str(STDIN) if str(source) == "-" else Path(source).name
    lines = summary(frame, scored, found, classifier)
    write_text(output, report_page(name, lines, found, sections(scored, found), reviews))
    if tables_to:
        write_tables(Path(tables_to), found)
    return found


def check_folder(folder: Path) -> None:
    """Refuse a folder unless it is new, empty, or holds only the tables of a report."""
    if not folder.exists():
        # a dangling link "exists" to nobody and can be neither read nor made
        refuse_links([folder])
        require_place(folder)
        return
    own, always = ({f"{name}.csv" for name in names} for names in (TABLES, ALWAYS))
    present = {path.name for path in folder.iterdir()} if folder.is_dir() else {folder.name}
    if not vacant(folder) and not always <= present <= own:
        raise ConfigError(
            f"{folder}: expected a new or empty folder for the tables, or those of a report, found "
            f"{listed(sorted(present))}; name another --tables"
        )
    refuse_links(folder.iterdir())


def write_tables(folder: Path, found: Tables) -> None:
    folder.mkdir(exist_ok=True)
    for name in TABLES:
        if name in found:
            write_text(folder / f"{name}.csv", as_csv(found[name]))
        else:
            (folder / f"{name}.csv").unlink(missing_ok=True)


def read(
    source: PathLike,
    text_column: Optional[str],
    group_by: Optional[str],
    date_column: Optional[str],
    kind: Optional[str] = None,
    encoding: Optional[str] = None,
) -> pandas.DataFrame:
    """Return text and, where asked for, group and month of each review."""
    parts, missing = [], set(filter(None, (group_by, date_column)))
    table = tables.open_table(source, text_column, kind=kind, encoding=encoding)
    for frame in table.frames:
        missing -= set(frame.columns)
        kept = pandas.DataFrame({"text": [tables.as_text(value) for value in frame[table.text_column]]})
        # the first rows of jsonl may lack a column
        absent = [None] * len(frame)
        if group_by:
            kept["group"] = [tables.as_text(value).strip() or None for value in frame.get(group_by, absent)]
        if date_column:
            kept["month"] = [month_of(value) for value in frame.get(date_column, absent)]
        parts.append(kept)
    if not parts:
        raise DataError(f"{source}: expected reviews, found no row")
    for name in missing:
        tables.require_column(frame, name, source, hint="")
    return pandas.concat(parts, ignore_index=True)


def count(frame: pandas.DataFrame, predictions: list[Prediction]) -> Tables:
    """Return the report's tables."""
    scored = frame[frame["label"].notna()]
    found: Tables = {}
    if "group" in scored:
        found["groups"] = shares_by(scored["group"], scored["label"]).sort_values("count", ascending=False)
    if "month" in scored:
        found["months"] = shares_by(scored["month"], scored["label"])
    labelled = [each for each in predictions if each.label]
    found["words_by_log_odds"] = distinctive_words([each.tokens for each in labelled], scored["label"])
    weights = by_word(token_table(labelled), fewest=max(3, len(labelled) // 500))
    found["words_by_attention"] = weights.rename(columns={"token": "word"})
    chosen = {kind: frame.loc[places] for kind, places in extreme_reviews(frame["probability"]).items()}
    found["reviews"] = pandas.concat(chosen, names=["kind", "row"])
    return found


def sections(scored: pandas.DataFrame, found: Tables) -> list[Section]:
    """Return the figures of the page."""
    whole = float((scored["label"] == "positive").mean())
    heading = "예측 확률의 분포 · How certain the predictions are"
    explanation = "가운데에 모이면 애매한 리뷰가 많은 것입니다."
    figures = [(heading, explanation, draw_histogram(scored["probability"].astype(float)))]
    if len(found.get("months", ())):
        explanation = "회색 막대는 95 % 신뢰구간, 채운 점은 전체와 뚜렷이 다른 달입니다."
        figures.append(("월별 · By month", explanation, draw_months(found["months"], whole)))
    if "groups" in found:
        heading = f"그룹별 · By group (리뷰가 많은 순서로 {GROUPS}개)"
        explanation = "회색 막대는 95 % 신뢰구간, 채운 점은 깔때기 그림의 99.8 % 한계 밖에 있는 그룹입니다."
        figures.append((heading, explanation, draw_groups(found["groups"].head(GROUPS), whole)))
    words, weights = found["words_by_log_odds"], found["words_by_attention"]
    praise, blame = words[words["z"] > 0].head(WORDS), words[words["z"] < 0].tail(WORDS)[::-1]
    heading = "칭찬과 비판의 단어 · Words of praise and blame"
    explanation = "한쪽 리뷰에 더 자주 나오는 단어 (로그 오즈 비의 z값, Monroe et al. 2008)."
    figures.append((heading, explanation, draw_words(praise, blame, "z", "z")))
    praise, blame = (weights[weights["label"] == label].head(WORDS) for label in ("positive", "negative"))
    heading = "모델이 주목하는 단어 · Words that the model attends to"
    explanation = "어텐션 가중치의 평균 (1: 리뷰 안의 평균 단어)."
    figures.append((heading, explanation, draw_words(praise, blame, "weight", "weight x T")))
    return figures


def summary(frame: pandas.DataFrame, scored: pandas.DataFrame, found: Tables, classifier: Classifier) -> list[str]:
    """Return the sentences at the page's head."""
    positive = (scored["label"] == "positive").sum()
    part = share(positive, len(scored))
    lines = [
        f"리뷰 {len(scored):,}개 가운데 {positive:,}개가 긍정입니다: {100 * part['share']:.1f} % "
        f"(95 % 신뢰구간 {100 * part['low']:.1f} ~ {100 * part['high']:.1f}). "
        f"{positive:,} of {len(scored):,} reviews are positive."
    ]
    if len(scored) < len(frame):
        lines.append(f"{len(frame) - len(scored):,}개는 읽을 단어가 없어 뺐습니다. Left out, without a word.")
    undated = int(frame["month"].isna().sum()) if "months" in found else 0
    if undated:
        lines.append(f"{undated:,}개는 날짜를 읽지 못해 월별 그림에 없습니다. Without a readable date.")
    test = classifier.bundle.manifest["metrics"].get("test", {})
    if isinstance(test.get("accuracy"), float) and test.get("data") == "nsmc":
        lines.append(
            f"모델은 NSMC 테스트 데이터의 {100 * test['accuracy']:.1f} %를 맞힙니다. 신뢰구간에는 모델 오류가 포함되지 않습니다. "
            "The intervals do not include the model's own errors."
        )
    return lines
