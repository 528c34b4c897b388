import pandas
import pytest

from nsmc_attention.apps.report.build import report


@pytest.fixture
def made(tmp_path):
    """Return a function that writes a table and its report, in a folder of the test's; it returns the tables and the page."""

    def make(classifier, columns, *named, **options):
        pandas.DataFrame(columns).to_csv(tmp_path / "a.csv", index=False)
        found = report(classifier, tmp_path / "a.csv", tmp_path / "r.html", *named, **options)
        return found, (tmp_path / "r.html").read_text(encoding="utf-8")

    return make
