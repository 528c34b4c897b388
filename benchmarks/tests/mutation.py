"""Mutation testing: change a module at one place at a time with cosmic-ray's operators, and list undetected changes.

    pip install cosmic-ray
    python -m benchmarks.tests.mutation [PART...] [--share 1.0] [--at tables/raw.py:31]

The script prints each change that no test detects, and finally a Markdown table. It changes a copy of the package. Each change
runs in a fork of a process that has already imported slow modules.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from difflib import unified_diff
from importlib import import_module
from pathlib import Path

from cosmic_ray.commands.init import _all_work_items
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

ROOT = Path(__file__).resolve().parents[2]
# Of each part its modules and the tests that are to notice, the quick ones first
PARTS = {
    "tables": ("tables", ["tests/tables", "tests/test_strangers_files.py"]),
    "corpora": ("corpora", ["tests/corpora"]),
    "text": ("text", ["tests/text"]),
    "bundle": ("bundle.py", ["tests/test_bundle.py"]),
    "faithfulness": ("measure/faithfulness.py", ["tests/measure/test_faithfulness.py"]),
}
# Minutes of Java for tokenizers that the changes do not touch; a fact of the data, not of the code
LEFT_OUT = "not java_taggers and not no_raw_review_of_the_archive"
IMPORTED = (
    "pytest",
    "hypothesis",
    "numpy",
    "pandas",
    "scipy.sparse",
    "sklearn.linear_model",
    "sklearn.metrics",
    "onnx",
    "onnxruntime",
    "nbmake",
    "matplotlib.pyplot",
)


def changes(paths):
    """Return one change a place, drawn by seed 0 of those that one kind of operator makes there."""
    found: dict = {}
    for item in _all_work_items(paths, {}):
        (change,) = item.mutations
        kind = change.operator_name.split("/")[1].split("_")[0]
        found.setdefault((change.module_path, change.start_pos, kind), []).append(change)
    drawn = random.Random(0)
    return [drawn.choice(sorted(each, key=lambda one: one.operator_name)) for _, each in sorted(found.items())]


def noticed(tests, limit):
    """Run the tests in a fork; return whether one failed, or all together took longer than `limit` seconds."""
    child = os.fork()
    if not child:
        os.setsid()
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1), os.dup2(quiet, 2)
        import pytest

        os._exit(pytest.main(["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-k", LEFT_OUT, *tests]))
    ends = time.monotonic() + limit
    while time.monotonic() < ends:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status != 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def after(change):
    """Return the module with the change; None where cosmic-ray cannot make it (of `except a.b` it names no operand)."""
    operator = get_operator(change.operator_name)(**change.operator_args)
    try:
        return mutate_code(Path(change.module_path).read_text(encoding="utf-8"), operator, change.occurrence)
    except AttributeError:
        return None


def tried(change, tests, limit):
    """Return the change as a diff where no test noticed it, else None."""
    path, changed = Path(change.module_path), after(change)
    before = path.read_text(encoding="utf-8")
    path.write_text(changed, encoding="utf-8")
    try:
        if noticed(tests, limit):
            return None
    finally:
        path.write_text(before, encoding="utf-8")
    lines = unified_diff(before.splitlines(), changed.splitlines(), lineterm="", n=0)
    return "\n".join(line for line in lines if not line.startswith(("---", "+++")))


def measure(part, share, places):
    """Try the changes of a part; return Counters of the tried and of the noticed ones, by module."""
    name, tests = PARTS[part]
    path = Path("nsmc_attention") / name
    found = changes(sorted(path.rglob("*.py")) if path.is_dir() else [path])
    found = random.Random(1).sample(found, round(share * len(found)))
    found = [each for each in found if after(each)]
    if places:
        found = [each for each in found if f"{label(each)}:{each.start_pos[0]}" in places]
    started = time.monotonic()
    if noticed(tests, 1800):
        sys.exit(f"{' '.join(tests)}: expected to pass as the package is, found failures")
    limit = 30 + 3 * (time.monotonic() - started)
    total: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for number, change in enumerate(found, 1):
        unnoticed = tried(change, tests, limit)
        total[label(change)] += 1
        seen[label(change)] += unnoticed is None
        if unnoticed:
            print(f"{label(change)}:{change.start_pos[0]} {change.operator_name}\n{unnoticed}\n", flush=True)
        print(f"{part}: {number} of {len(found)}, {sum(seen.values())} noticed", file=sys.stderr, end="\r")
    return total, seen


def label(change):
    return str(Path(change.module_path).relative_to("nsmc_attention"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--share", type=float, default=1.0, help="of the places, drawn by a seed")
    parser.add_argument("--at", action="append", default=[], metavar="MODULE:LINE", help="only these places")
    choice = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("nsmc_attention", "tests", "data", "benchmarks", "recipes"):
            shutil.copytree(ROOT / name, Path(folder) / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("setup.cfg", "pyproject.toml"):
            shutil.copy(ROOT / name, folder)
        os.chdir(folder)
        os.environ.update(
            PYTHONPATH=folder, PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1", ORT_DISABLE_TELEMETRY="1"
        )
        sys.dont_write_bytecode = True
        sys.path.insert(0, folder)
        for name in IMPORTED:
            import_module(name)
        rows = []
        for part in choice.parts or PARTS:
            total, seen = measure(part, choice.share, choice.at)
            rows += [(name, total[name], seen[name]) for name in total] + [
                (f"**{part}**", sum(total.values()), sum(seen.values()))
            ]
        os.chdir(ROOT)
    print("| module | changes | noticed | share |\n|---|---|---|---|")
    for name, total, seen in rows:
        print(f"| {name} | {total} | {seen} | {seen / max(1, total):.2f} |")


if __name__ == "__main__":
    main()
