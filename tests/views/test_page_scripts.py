"""The scripts of the page stand in one scope: a second function of a name would replace the first without a word."""

import re
from collections import Counter
from pathlib import Path

import nsmc_attention

ROOT = Path(nsmc_attention.__file__).parent


def test_no_two_functions_of_the_page_have_one_name():
    scripts = [ROOT / "views/words.js", *sorted(ROOT.glob("apps/serve/**/*.js"))]
    text = "\n".join(path.read_text(encoding="utf-8") for path in scripts)
    names = Counter(re.findall(r"^(?:async )?function (\w+)", text, re.MULTILINE))
    assert len(names) > 50 and [name for name, count in names.items() if count > 1] == []
