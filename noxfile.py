"""Tasks of a contributor; `nox --list` names them, CONTRIBUTING.md says when each is run."""

from pathlib import Path

import nox

nox.needs_version = ">=2024.3.2"
nox.options.reuse_existing_virtualenvs = True
nox.options.sessions = ["lint", "test"]


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, format and types."""
    session.install("-e", ".[dev]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("clang-format", "--dry-run", "--Werror", *map(str, Path("nsmc_attention/native").glob("*.?pp")))
    session.run("mypy")


@nox.session
def test(session: nox.Session) -> None:
    """Run the default tests; arguments after -- go to pytest."""
    session.install("-e", ".[test]")
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session
def slow(session: nox.Session) -> None:
    """Run the long tests, then the property tests with many examples."""
    session.install("-e", ".[test]")
    session.run("python", "-m", "pytest", "-n", "0", "-m", "slow", *session.posargs)
    session.run("python", "-m", "pytest", "-m", "hypothesis", "--hypothesis-profile=long", *session.posargs)


@nox.session
def system(session: nox.Session) -> None:
    """Run the tests that need root, network namespaces, Java or another interpreter."""
    session.install("-e", ".[test]", "pyspark")
    session.run("python", "-m", "pytest", "-n", "0", "-m", "system", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation into site/, with warnings as errors; `nox -s docs -- serve` shows it at port 8000."""
    session.install("-e", ".[docs]")
    session.run("mkdocs", *(session.posargs or ["build", "--strict"]))


@nox.session
def notebooks(session: nox.Session) -> None:
    """Run the notebooks and save their outputs; names of files after -- are those to run."""
    session.install("-e", ".[notebook,test]")
    session.run("python", "notebooks/run.py", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure speed beside PyTorch and scikit-learn."""
    session.install("-e", ".[benchmark]")
    session.run("python", "-m", "benchmarks.contest", *session.posargs)
