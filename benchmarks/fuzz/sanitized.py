"""Run a command with the compiled parts under AddressSanitizer and UndefinedBehaviorSanitizer.

    python benchmarks/fuzz/sanitized.py FOLDER python -m pytest -n 0 tests/native tests/classifier/test_native.py tests/network/test_operators.py
    python benchmarks/fuzz/sanitized.py FOLDER python benchmarks/fuzz/tokens.py 1000000 7 mutated
    python benchmarks/fuzz/sanitized.py FOLDER python benchmarks/fuzz/native.py 300 3000
    python benchmarks/fuzz/sanitized.py FOLDER python benchmarks/fuzz/files.py 2500

The script copies the package to FOLDER and compiles it there on first use (one minute) and after changes; this checkout stays
unchanged. The command imports this copy, which needs Python 3.11 and GCC, and ends with a report at the first finding. Memory
that Python and NumPy never free is ignored.
"""

import os
import subprocess
import sys
from pathlib import Path

FLAGS = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined"
# the compiler's own, in this order before everything else; the sanitizers look for C++'s exceptions at their start
LIBRARIES = ("libasan.so", "libubsan.so", "libstdc++.so")


def build(folder):
    """Return the folder of a copy of the package with instrumented extensions."""
    lib = folder / "lib"
    command = [sys.executable, "setup.py", "-q", "build", "--build-lib", str(lib), "--build-temp", str(folder / "temp")]
    subprocess.run(command, env={**os.environ, "CFLAGS": FLAGS}, cwd=Path(__file__).parents[2], check=True)
    for library in (lib / "nsmc_attention" / "native").glob("*.so"):
        if b"__asan_report" not in library.read_bytes():
            raise SystemExit(f"{library}: expected it instrumented, found it otherwise; remove {folder}")
    return lib


def library_path(name):
    return subprocess.run(
        ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
    ).stdout.strip()


def main(folder, *command):
    found = {
        "LD_PRELOAD": " ".join(map(library_path, LIBRARIES)),
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONPATH": str(build(Path(folder).absolute())),
        # without the working directory, whose package is not instrumented
        "PYTHONSAFEPATH": "1",
    }
    os.execvpe(command[0], command, {**os.environ, **found})


if __name__ == "__main__":
    main(*sys.argv[1:])
