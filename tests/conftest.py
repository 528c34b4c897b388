"""What the tests share: a tiny model trained once, the command line, and the official files where there are any."""

import fcntl
import io
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

# Before any OpenMP is loaded, here and in child processes: threads that spin while they wait slow a busy machine down
# many times over, and the tests' models are too small to gain by them
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# For tests that import onnxruntime themselves; the package sets it too
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
# Messages are compared with English ones, whatever the locale
os.environ["NSMC_ATTENTION_LANGUAGE"] = "en"

import numpy
import pytest
from hypothesis import HealthCheck, settings

from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.classifier.settings import preset
from nsmc_attention.corpora.data import Labelled
from nsmc_attention.drawing.figure import font_file
from nsmc_attention.machine.processes import cores
from nsmc_attention.registry import SYSTEMS
from nsmc_attention.text.tokenizers import pip_mecab
from nsmc_attention.training.runs import Run
from recipes.sample import first_sample, write

# The tests train on the sample many times: on its first reviews alone, in a folder that goes with this process; workers have it
if "NSMC_ATTENTION_SAMPLE" not in os.environ:
    SAMPLE = TemporaryDirectory(prefix="nsmc-sample-")
    os.environ["NSMC_ATTENTION_SAMPLE"] = SAMPLE.name
    write(first_sample(), Path(SAMPLE.name))

# `python -m pytest -m hypothesis --hypothesis-profile=long` runs every property test with many examples
settings.register_profile("short", max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", settings.get_profile("short"), max_examples=1000)
settings.load_profile("short")

TINY = preset("default").with_fields(embedding_size=8, hidden_size=8, attention_units=4, ngram_buckets=500, epochs=3)
TINY = TINY.with_fields(batch_size=32, learning_rate=0.02, dev_fraction=0.1, erasure_reviews=100, erasure_epochs=2)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """Run the whole suite in one process more than there are cores (many tests wait), at most three; files in this one."""
    whole = config.args_source is config.ArgsSource.TESTPATHS
    return min(3, cores() + 1) if whole else 0


# What takes longest begins first, so that no process works alone at the end
LONGEST = "tests/apps/serve tests/systems tests/classifier tests/crashes tests/test_ tests/apps".split()


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: next((n for n, place in enumerate(LONGEST) if item.nodeid.startswith(place)), 99))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give one process all tests of a file, and all of the server: they share what takes seconds to make."""
    from xdist.scheduler import LoadFileScheduling

    class BySharing(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return LONGEST[0] if nodeid.startswith(LONGEST[0]) else super()._split_scope(nodeid)

    # by the number of tests, not by their time
    config.option.loadscopereorder = False
    return BySharing(config, log)


def pytest_terminal_summary(terminalreporter):
    """Say how to install, if the package that is tested has no compiled parts: tests fail or are skipped for that."""
    if not find_spec("nsmc_attention.native._network"):
        line = "nsmc_attention/native has no compiled parts: pip install -e '.[test]' (without -e they are elsewhere)"
        terminalreporter.write_line(line)


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory):
    """Keep prepared data of the tests out of the user's cache."""
    os.environ["NSMC_ATTENTION_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(autouse=True)
def same_numbers():
    """Draw MXNet's random numbers from the same beginning in each test, whichever ran before."""
    if mxnet := sys.modules.get("mxnet"):
        mxnet.random.seed(0)


@pytest.fixture(scope="session")
def tiny():
    return TINY


def changed(config, settings):
    """Return a config with settings, written as on the command line: `name=value`, a space between them."""
    return config.with_settings(dict(setting.split("=") for setting in settings.split()))


TINY_TRANSFORMER = changed(
    TINY.with_fields(encoder="transformer", epochs=1, erasure_reviews=0, ngram_buckets=0),
    "model.encoder.layers=3 model.encoder.units=8 model.encoder.heads=2 model.encoder.feed_forward=16",
)
BRIEF = TINY.with_fields(epochs=2, erasure_reviews=40, erasure_epochs=1)
TINY_STRUCTURED = BRIEF.with_fields(attention="structured", attention_units=4, attention_hops=3)
TINY_CONVOLUTION = BRIEF.with_fields(values="convolution", window=3, value_units=6)
TINY_SIGNED = TINY_CONVOLUTION.with_fields(signed=1)
# Of the systems beside the classifier, any of which may be missing: the system, its preset, settings
TINY_SYSTEMS = {
    "tiny_editor": """restore editor model.embedding_size=8 model.encoder.hidden_size=8 model.output_units=8
        training.batch_size=32 training.epochs=1""",
    "tiny_language": """language transformer model.embedding_size=8 model.encoder.units=8 model.encoder.heads=2
        model.encoder.feed_forward=16 training.batch_size=64 training.epochs=1""",
    "tiny_writer": """restore writer text.min_count=1 model.embedding_size=8 model.encoder.hidden_size=4
        model.decoder.units=16 model.decoder.feed_forward=16 model.decoder.dropout=0 model.output_units=8
        model.dropout=0 training.batch_size=16 training.epochs=6 training.learning_rate=0.05 training.average=0
        training.joined=0 training.dev_fraction=0.02""",
    "tiny_film": """film pooling model.units=6 model.output_units=6 model.attention.units=4 training.batch_size=32
        training.epochs=8 training.learning_rate=0.02 training.patience=8 training.average=0""",
    "tiny_reader": """read reader model.hidden_size=8 model.decoder_size=8 model.attention.units=4
        model.embedding_size=4 model.output_units=4 training.lines=32 training.batch_size=8 training.epochs=1""",
}


def tiny_config(name):
    """Return the settings of one of TINY_SYSTEMS."""
    task, preset_name, settings = TINY_SYSTEMS[name].split(maxsplit=2)
    config = changed(SYSTEMS[task].preset(preset_name), settings)
    return config.with_settings({"training.fonts": str(font_file().parent)}) if task == "read" else config


PRAISE, BLAME = ("정말 재미있다", "최고의 영화", "배우들 연기가 좋다"), ("지루하다", "돈이 아깝다", "최악의 연출")
SYLLABLES = "가나다라마바사자차하"


def trained_once(tmp_path_factory, name, config, data="sample"):
    """Train on the data in the first of the test processes that asks; the others wait and share the run."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with open(folder / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / name / "bundle").exists():
            SYSTEMS[config.task].train(Labelled(data), config, Run(folder / name, quiet=True))
    return folder / name


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory):
    """A run on the sample, trained once for all tests. Do not change it."""
    return trained_once(tmp_path_factory, "tiny", TINY)


@pytest.fixture(scope="session")
def post_run_folder(tmp_path_factory):
    config = preset("post").with_fields(embedding_size=8, hidden_size=4, epochs=1, max_length=12)
    return trained_once(tmp_path_factory, "post", config)


def tiny_bundle(name, config=None, table=None):
    """Return a fixture: the bundle of a training on a table, or on the sample, of which it learns next to nothing."""

    @pytest.fixture(scope="session", name=name)
    def bundle(request, tmp_path_factory):
        data = request.getfixturevalue(table) if table else "sample"
        return trained_once(tmp_path_factory, name, config or tiny_config(name), data) / "bundle"

    return bundle


# an editor that leaves spaces out, a Transformer of three layers with two heads each, three hops with n-grams, and three
# with n-grams whose log-odds are a sum over the tokens
tiny_editor, tiny_language = tiny_bundle("tiny_editor"), tiny_bundle("tiny_language")
tiny_reader = tiny_bundle("tiny_reader")
tiny_transformer = tiny_bundle("tiny_transformer", TINY_TRANSFORMER)
tiny_structured = tiny_bundle("tiny_structured", TINY_STRUCTURED)
tiny_convolution = tiny_bundle("tiny_convolution", TINY_CONVOLUTION)
tiny_signed = tiny_bundle("tiny_signed", TINY_SIGNED)
# a writer that writes its one sentence, whatever it reads; other sources are too far from that
tiny_writer = tiny_bundle("tiny_writer", table="sentences_table")
# one that has learnt that films are praised by words of praise
tiny_film = tiny_bundle("tiny_film", table="films_table")


@pytest.fixture(scope="session")
def sentences_table(tmp_path_factory):
    rows = [f"이 영화 정말 좋다 {one}{other}\n" for one in SYLLABLES for other in SYLLABLES]
    (path := tmp_path_factory.mktemp("sentences") / "sentences.csv").write_text("document\n" + "".join(rows), "utf-8")
    return path


@pytest.fixture(scope="session")
def films_table(tmp_path_factory):
    """120 films of 4 to 29 reviews, the stars of which are their words'; the share of praise is the film's."""
    random = numpy.random.RandomState(0)
    rows = []
    for film in range(120):
        share = random.random_sample()
        for _ in range(random.randint(4, 30)):
            praised = random.random_sample() < share
            text = (PRAISE if praised else BLAME)[random.randint(3)]
            rows.append(f"영화 {film},{random.randint(8, 11) if praised else random.randint(1, 4)},{text}")
    path = tmp_path_factory.mktemp("films") / "films.csv"
    path.write_text("\n".join(["영화,별점,리뷰", *rows]), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def bundle_folder(run_folder):
    return run_folder / "bundle"


@pytest.fixture(scope="session")
def packaged():
    """The classifier that ships with the package."""
    return load_classifier()


@pytest.fixture(scope="session")
def classifier(bundle_folder):
    """The tiny one."""
    return load_classifier(bundle_folder)


@pytest.fixture(scope="session")
def mecab():
    """KoNLPy's Mecab, of which the compiled decoder gives the tokens."""
    pytest.importorskip("mecab", reason="python-mecab-ko has no wheel for this Python or machine")
    return pip_mecab()


@pytest.fixture(scope="session")
def nsmc_folder():
    folder = os.environ.get("NSMC_ATTENTION_DATA")
    if not folder or not (Path(folder) / "ratings_train.txt").is_file():
        pytest.skip("needs the official files: set NSMC_ATTENTION_DATA to their folder")
    return Path(folder)


# not of the session: where Playwright runs, no other test could run asyncio
@pytest.fixture(scope="module")
def chromium():
    """A browser: `apt-get install chromium; pip install playwright`, or $CHROMIUM; without it skipped, but not in CI."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not os.environ.get("CI"):
        pytest.importorskip("playwright.sync_api")
        if not path:
            pytest.skip("needs Chromium: apt-get install chromium, or $CHROMIUM")
    from playwright.sync_api import sync_playwright

    assert path, "no Chromium: apt-get install chromium, or set CHROMIUM to its path"
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def serious(tmp_path_factory):
    """A function from a page to what axe-core, which npm downloads, finds serious in it."""
    if not shutil.which("npm"):
        pytest.skip("needs Node.js and npm")
    folder = tmp_path_factory.mktemp("axe")
    done = subprocess.run(["npm", "install", "--ignore-scripts", "--prefix", folder, "axe-core@4"], capture_output=True)
    if done.returncode:
        pytest.skip(f"npm could not install axe-core: {done.stderr.splitlines()[-1:]}")
    script = (folder / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")

    def violations(page):
        page.evaluate(script)
        found = [each for each in page.evaluate("axe.run()")["violations"] if each["impact"] in ("serious", "critical")]
        return [(rule["id"], node["target"]) for rule in found for node in rule["nodes"]]

    return violations


@pytest.fixture
def disk(tmp_path):
    """A function that mounts a small disk with some options; it can be made larger, or read-only."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def mount(*options):
        command = ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"mounting a tmpfs is not allowed here: {done.stderr.strip()}")
        return folder

    yield mount
    # also while a process has a file on it
    subprocess.run(["umount", "-l", str(folder)], capture_output=True)


@pytest.fixture
def command(capsys, monkeypatch):
    """A function that runs a command line in this process: its arguments and `stdin` -> subprocess.CompletedProcess."""
    from nsmc_attention.cli import run

    def run_here(*arguments, stdin=b""):
        content = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig"))
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return subprocess.CompletedProcess(arguments, code, *capsys.readouterr())

    return run_here
