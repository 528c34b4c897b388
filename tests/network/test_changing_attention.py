"""The scoring function of docs/changing-attention.md, as it is printed: added to the package, it trains."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import nsmc_attention
from nsmc_attention.corpora.nsmc import sample_folder

PACKAGE = Path(nsmc_attention.__file__).parent
PAGE = (PACKAGE.parent / "docs" / "changing-attention.md").read_text(encoding="utf-8")


def test_the_printed_scoring_function_trains(tmp_path):
    added, names = (dedent(code) for code in re.findall(r"^ +```py\n(.*?)^ +```", PAGE, re.M | re.S))
    shutil.copytree(PACKAGE, tmp_path / "nsmc_attention", ignore=shutil.ignore_patterns("__pycache__"))
    file = tmp_path / "nsmc_attention" / "network" / "attention.py"
    code = file.read_text(encoding="utf-8")
    before = names.strip().replace(", Projected", "")
    assert code.count(before) == 1
    code = code.replace(before, names.strip())
    file.write_text(code.replace("\nATTENTIONS:", f"\n{added}\nATTENTIONS:", 1), encoding="utf-8")
    settings = "--attention projected --set model.attention.units=16 --epochs 1 --erasure-reviews 0 --ngram-buckets 0"
    words = f"train --data {sample_folder() / 'ratings_train.txt'} {settings} --out run".split()
    ran = subprocess.run([sys.executable, "-m", "nsmc_attention", *words], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0 and (tmp_path / "run" / "bundle" / "manifest.json").is_file(), ran.stderr
