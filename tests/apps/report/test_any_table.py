"""Whatever the cells of a table are, a report is a page or one line that says what is wrong."""

import pandas
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.apps.report.build import report
from nsmc_attention.errors import NsmcError
from nsmc_attention.text.encoding import clean

TEXTS = ["이야기가 따뜻하고 좋았다", "이야기가 지루했다", "음악이 훌륭했다", "최고의 영화", "최고의  영화"]
TEXTS += [
    "연기는 좋은데 결말이 별로",
    "그냥 그래요",
    "오늘 개봉해요",
    "a",
    "ㅋㅋ",
    "<b>배송</b>이 늦어요",
    "",
    " ",
    "???",
]
CELLS = {
    "document": st.sampled_from(TEXTS),
    "film": st.sampled_from(["봄날", "한낮", "<i>", "nan", "", " "]),
    "date": st.sampled_from(
        ["2026.03.11", "3.12.목", "3일 전", "46093", "1773241200", "2019-04", "9999.1.1", "", "어제"]
    ),
    "별점": st.sampled_from(["1", "3", "5", "4.5", "★★★", "", "합계", "85/100"]),
}
COLUMNS = st.sampled_from([None, *CELLS])


@st.composite
def tables(draw):
    """Columns of cells, of which one may be all blank or all alike."""
    count, columns = draw(st.integers(1, 25)), {}
    for name, cells in CELLS.items():
        same = draw(st.sampled_from([cells, cells, cells, st.just(""), st.just(draw(cells))]))
        columns[name] = draw(st.lists(same, min_size=count, max_size=count))
    return pandas.DataFrame(columns)


@given(table=tables(), group=COLUMNS, date=COLUMNS, stars=st.sampled_from([None, None, *CELLS]))
def test_any_table_is_a_report_or_one_line(packaged, tiny_film, tmp_path_factory, table, group, date, stars):
    table.to_csv((folder := tmp_path_factory.getbasetemp()) / "any.csv", index=False)
    columns = {"date_column": date, "stars_column": stars, "film_bundle": tiny_film if group else None}
    try:
        found = report(packaged, folder / "any.csv", folder / "r.html", group, tables_to=folder / "t", **columns)
    except NsmcError as problem:
        assert "\n" not in str(problem)
        return
    page, texts = (folder / "r.html").read_text(encoding="utf-8"), [*map(clean, found["reviews"]["text"])]
    assert "@@" not in page and len(texts) == len(set(texts)), "each text once"
    if group:
        named = found["groups"]["count"].sum()
        assert named <= sum(cell.strip() != "" for cell in table[group]) and found["groups"].index.notna().all()
    if "agreement" in found:
        assert found["agreement"].to_numpy().sum() <= len(table)
