"""From a table of reviews to a report: score it, count it, draw it, write the page."""

import sys
from dataclasses import replace
from pathlib import Path

import pandas
from tqdm import tqdm

from .._io.atomic import refuse_links, replaced_file, require_place, vacant, write_text
from .._io.spreadsheets import as_csv
from ..errors import ConfigError, DataError, listed
from ..evaluation.attention_statistics import by_word, token_table
from ..inference.attribution import Attribution
from ..reviews import tables
from ..reviews.pieces import STDIN
from .page import GROUPS, WORDS, draw_histogram, draw_shares, draw_words, report_page
from .statistics import months, share, shares_by, telling_reviews, telling_words

# The csv files of --tables: those that are always there, and those where they were asked for
ALWAYS = ("words_by_log_odds", "words_by_attention", "reviews")
TABLES = (*ALWAYS, "groups", "months")
NAMES = {
    "positive": "가장 긍정적인 리뷰 · Most positive",
    "negative": "가장 부정적인 리뷰 · Most negative",
    "uncertain": "가장 애매한 리뷰 · Most uncertain",
}


def report(
    classifier, source, output, group_by=None, date_column=None, text_column="document", tables_to=None, kind=None
):
    """Write the report of a table of reviews.

    Parameters
    ----------
    classifier : inference.predictor.Classifier
    source, kind : path and str or None
        See `reviews.tables.chunks`.
    output : path
        The .html page, written whole or not at all.
    group_by, date_column : str or None
        Columns: shares by each, of all groups and by month.
    tables_to : path or None
        A folder for the tables as csv; the page offers them too.

    Returns
    -------
    dict of name to DataFrame

    Raises
    ------
    DataError, ConfigError
    """
    if Path(output).suffix.lower() != ".html":
        raise ConfigError(f"{output}: expected a page that ends in .html")
    require_place(Path(output))
    if tables_to:
        check_folder(Path(tables_to))
    frame = read(source, text_column, group_by, date_column, kind)
    bar = tqdm(
        classifier.predict_stream(frame["text"]),
        total=len(frame),
        desc="scoring",
        unit=" reviews",
        file=sys.stderr,
        disable=None,
        mininterval=0.5,
    )
    # of the T x T weights only their mean over the rows is told; all of them would be gigabytes
    predictions = [replace(each, weights=each.token_weights[None]) for each in bar]
    frame["probability"] = [each.probability for each in predictions]
    frame["label"] = [each.label for each in predictions]
    if frame["label"].notna().sum() < 1:
        raise DataError(f"{source}: expected reviews, found none with a word")
    found = count(frame, predictions)
    name = str(STDIN) if str(source) == "-" else Path(source).name
    write_text(output, page(name, frame, predictions, found, classifier))
    if tables_to:
        write_tables(Path(tables_to), found)
    return found


def check_folder(folder):
    """Refuse a folder, unless it is new, empty, or has the tables of a report alone; or one without its parent."""
    if not folder.exists():
        # a link that leads nowhere is there, and can be neither read nor made
        refuse_links([folder])
        return require_place(folder)
    ours, always = ({f"{name}.csv" for name in names} for names in (TABLES, ALWAYS))
    there = [path.name for path in folder.iterdir()] if folder.is_dir() else [folder.name]
    if not vacant(folder) and not always <= set(there) <= ours:
        raise ConfigError(
            f"{folder}: expected a new or empty folder for the tables, or those of a report, found "
            f"{listed(sorted(there))}; name another --tables"
        )
    refuse_links(folder.iterdir())


def write_tables(folder, found):
    folder.mkdir(exist_ok=True)
    for name in TABLES:
        path = folder / f"{name}.csv"
        if name not in found:
            path.unlink(missing_ok=True)
            continue
        with replaced_file(path) as temporary:
            temporary.write_bytes(as_csv(found[name]).encode(errors="replace"))


def read(source, text_column, group_by, date_column, kind=None):
    """Answer text and, where asked for, group and month of each review."""
    pieces, missing = [], set(filter(None, (group_by, date_column)))
    for piece in tables.chunks(source, text_column, kind=kind):
        missing -= set(piece.columns)
        kept = pandas.DataFrame({"text": [tables.as_text(value) for value in piece[text_column]]})
        if group_by:
            kept["group"] = [tables.as_text(value).strip() or None for value in column(piece, group_by)]
        if date_column:
            kept["month"] = months(column(piece, date_column))
        pieces.append(kept)
    if not pieces:
        raise DataError(f"{source}: expected reviews, found no row")
    for name in missing:
        tables.require_column(piece, name, source, hint="")
    return pandas.concat(pieces, ignore_index=True)


def column(piece, name):
    """Answer a column of a DataFrame, None in each row where it has none: the rows of jsonl may begin without it."""
    return piece[name].reset_index(drop=True) if name in piece else pandas.Series([None] * len(piece), dtype=object)


def count(frame, predictions):
    """Answer the report's tables."""
    scored = frame[frame["label"].notna()]
    found = {
        name: shares_by(scored[key], scored["label"])
        for name, key in (("groups", "group"), ("months", "month"))
        if key in scored
    }
    if "groups" in found:
        found["groups"] = found["groups"].sort_values("count", ascending=False)
    of_label = [each for each in predictions if each.label]
    found["words_by_log_odds"] = telling_words([each.tokens for each in of_label], [each.label for each in of_label])
    weights = by_word(token_table(of_label), fewest=max(3, len(of_label) // 500))
    found["words_by_attention"] = weights.rename(columns={"token": "word"})
    chosen = {kind: frame.loc[places] for kind, places in telling_reviews(frame["probability"]).items()}
    found["reviews"] = pandas.concat(chosen, names=["kind", "row"])
    return found


def page(name, frame, predictions, found, classifier):
    scored = frame[frame["label"].notna()]
    whole = float((scored["label"] == "positive").mean())
    figures = [
        (
            "얼마나 확신하는가 · How sure the answers are",
            "가운데에 모이면 애매한 리뷰가 많은 것입니다.",
            draw_histogram(scored["probability"].astype(float)),
        )
    ]
    if len(found.get("months", ())):
        figures.append(
            (
                "달마다 · By month",
                "회색 막대는 95 % 구간, 채운 점은 전체와 뚜렷이 다른 달입니다.",
                draw_shares(found["months"], whole, across=True),
            )
        )
    if "groups" in found:
        figures.append(
            (
                f"묶음마다 · By group (많은 순서로 {GROUPS}개)",
                "회색 막대는 95 % 구간, 채운 점은 전체와 뚜렷이 다른 묶음입니다 (깔때기 그림의 99.8 % 한계 밖).",
                draw_shares(found["groups"].head(GROUPS), whole),
            )
        )
    words, weights = found["words_by_log_odds"], found["words_by_attention"]
    figures.append(
        (
            "칭찬과 비판의 말 · Words of praise and blame",
            "한쪽 리뷰에 더 자주 나오는 말 (로그 오즈 비의 z값, Monroe et al. 2008).",
            draw_words(words[words["z"] > 0].head(WORDS), words[words["z"] < 0].tail(WORDS)[::-1], "z", "z"),
        )
    )
    figures.append(
        (
            "모델이 보는 말 · Words that the model looks at",
            "주의 가중치의 평균 (1: 리뷰 안의 보통 단어).",
            draw_words(
                weights[weights["label"] == "positive"].head(WORDS),
                weights[weights["label"] == "negative"].head(WORDS),
                "weight",
                "weight x T",
            ),
        )
    )
    # the index has kind and row; a kind may have none
    reviews = [
        (
            heading,
            [
                shaded(predictions[row], classifier.bundle.name)
                for chosen, row in found["reviews"].index
                if chosen == kind
            ],
        )
        for kind, heading in NAMES.items()
    ]
    return report_page(name, head(frame, scored, found, classifier), found, figures, reviews)


def head(frame, scored, found, classifier):
    """Answer the sentences at the page's head."""
    positive = (scored["label"] == "positive").sum()
    part = share(positive, len(scored))
    lines = [
        f"리뷰 {len(scored):,}개 가운데 {positive:,}개가 긍정입니다: {100 * part['share']:.1f} % "
        f"(95 % 구간 {100 * part['low']:.1f} ~ {100 * part['high']:.1f}). "
        f"{positive:,} of {len(scored):,} reviews are positive."
    ]
    if len(scored) < len(frame):
        lines.append(f"{len(frame) - len(scored):,}개는 읽을 단어가 없어 뺐습니다. Left out, without a word.")
    if "months" in found and frame["month"].isna().any():
        undated = int(frame["month"].isna().sum())
        lines.append(f"{undated:,}개는 날짜를 읽지 못해 달마다의 그림에 없습니다. Without a readable date.")
    test = classifier.bundle.manifest["metrics"].get("test", {})
    accuracy = test.get("accuracy")
    if isinstance(accuracy, float) and test.get("data") == "nsmc":
        lines.append(
            f"모델은 NSMC 시험 자료의 {100 * accuracy:.1f} %를 맞힙니다. 구간은 이 잘못을 세지 않습니다. "
            "The intervals are of counting alone, not of the model's own errors."
        )
    return lines


def shaded(prediction, source):
    return Attribution(
        prediction.text,
        prediction.label,
        prediction.probability,
        prediction.tokens,
        prediction.offsets,
        prediction.token_weights.astype("float64"),
        "attention",
        None,
        source,
    )
