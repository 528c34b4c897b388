"""kill -9 at any moment: no half-written file under a final name, and the next start ends with the same bytes.

The default run has a short form. The long one, more than 200 kills, counted by where they struck, takes
2 to 22 minutes a command:

    python -m pytest -m slow -s tests/crashes/test_kills.py -k "moment and train"    (predict, bulk, fetch, export)
    python -m pytest -m slow -s tests/crashes/test_kills.py -k turn
"""

import http.server
import json
import shutil
import signal
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pandas
import pytest

from nsmc_attention.bundle import load_bundle
from nsmc_attention.classification.engines import load_engine
from nsmc_attention.classification.predictor import load_classifier
from nsmc_attention.classification.system import LAYOUT
from nsmc_attention.inference.scoring import score_table
from nsmc_attention.tables import nsmc
from nsmc_attention.training.checkpoint import read_arrays

# About as long as the longest command takes
SECONDS = 10
KINDS = ("os.rename", "fsync", "os.mkdir", "open", "os.remove", "shutil.rmtree")


@dataclass
class Scenario:
    """A command that is killed and started again.

    Attributes
    ----------
    folder : Path
        The only folder that it writes to.
    arguments : callable
        Returns the arguments of the next start.
    result : callable
        Returns what a finished run left; must equal `expected`.
    seconds : float
        Upper bound of the random delay before a kill.
    largest : int
        Bytes of the largest file that it writes itself; 0 if its workers write.
    also : str
        Code that runs before the command.
    """

    child: type
    folder: Path
    arguments: object
    result: object
    expected: object
    seconds: float
    largest: int
    also: str = ""
    deaths: Counter = field(default_factory=Counter)

    def die(self, child):
        """Start it as `child`; return whether it died before its end."""
        code, _, errors = child.run(*self.arguments())
        assert code in (0, -signal.SIGKILL, -signal.SIGXFSZ), errors
        check_whole(self.folder)
        if code:
            self.deaths[stage(self.folder)] += 1
            rename_back(self.folder)
        return code != 0

    def die_at(self, k, kind="any"):
        return self.die(self.child.dying_at(self.folder, k, kind, self.also))

    def die_somewhere(self, draw):
        """Die after a delay, within a write, or at a change to the disk."""
        how = draw.randrange(4)
        if how == 0:
            return self.die_at(draw.randint(1, 12), draw.choice(KINDS))
        if how == 1 and self.largest:
            return self.die(self.child.dying_at_byte(draw.randint(1, self.largest), self.also))
        return self.die(self.child.dying_after(draw.uniform(0, self.seconds), self.also))

    def finish(self):
        """Start it once more: it ends as if never killed, and leaves no temporary file."""
        code, _, errors = self.child(code=self.child.code + self.also).run(*self.arguments())
        assert code == 0, errors
        assert self.result() == self.expected
        assert not list(self.folder.rglob(".partial-*"))

    def die_often(self, kills, draw):
        """Kill it `kills` times; now and then let it finish and begin again in an empty folder."""
        while sum(self.deaths.values()) < kills:
            if not self.die_somewhere(draw) or draw.random() < 0.2:
                self.finish()
                empty(self.folder)
        self.finish()


def rename_back(folder):
    """Do what `docs/guarantees.md` tells where a bundle is missing: the old one is beside it."""
    for old in folder.rglob("bundle.old-*"):
        if not (old.parent / "bundle").exists():
            old.rename(old.parent / "bundle")


def empty(folder):
    shutil.rmtree(folder)
    folder.mkdir()


def check_whole(folder):
    """Every file under a final name can be read."""
    for path in folder.rglob("*"):
        if path.is_dir() or ".partial-" in str(path):
            continue
        content = path.read_bytes()
        if path.suffix == ".safetensors":
            read_arrays(path)
        elif path.suffix in (".json", ".jsonl"):
            for text in content.splitlines() if path.suffix == ".jsonl" else [content]:
                json.loads(text)
        elif path.suffix == ".png":
            assert content.endswith(b"IEND\xaeB`\x82"), path
        if path.name == "manifest.json":
            load_bundle(path.parent, LAYOUT)


def stage(folder):
    """Return where it died: the file it was writing, or else the last one written."""
    begun = sorted(path.name.split(".")[1].rstrip("-0123456789") for path in folder.rglob(".partial-*"))
    if begun:
        return f"while writing {begun[0]}"
    files = [path for path in folder.rglob("*") if path.is_file()]
    return f"after {max(files, key=lambda path: path.stat().st_mtime_ns).name}" if files else "before any file"


def digests(folder, *names):
    return [(folder / name).read_bytes() for name in names]


def history(run):
    return [
        [{**json.loads(line), "seconds": 0} for line in path.read_text(encoding="utf-8").splitlines()]
        for path in sorted(run.rglob("history.jsonl"))
    ]


@pytest.fixture
def train(child, training, run_folder, tmp_path):
    run = tmp_path / "disk" / "run"
    run.parent.mkdir()

    def arguments():
        return [*training, run, *(["--resume"] if (run / "settings.json").exists() else [])]

    def result(run=run):
        return digests(run / "bundle", "model.safetensors", "model.onnx", "vocab.json", "manifest.json"), history(run)

    return Scenario(child, run.parent, arguments, result, result(run_folder), SECONDS, 200_000)


@pytest.fixture
def export(child, bundle_folder, tmp_path):
    """Into the bundle itself, which is replaced by another folder of the same name."""
    bundle = tmp_path / "disk" / "bundle"
    bundle.parent.mkdir()

    def arguments():
        if not (bundle.exists() or list(bundle.parent.iterdir())):
            shutil.copytree(bundle_folder, bundle)
        return ["export", "--bundle", bundle]

    def result():
        load_bundle(bundle, LAYOUT)
        return digests(bundle, "model.safetensors", "model.onnx")

    expected = digests(bundle_folder, "model.safetensors", "model.onnx")
    return Scenario(child, bundle.parent, arguments, result, expected, SECONDS / 2, 30_000)


@pytest.fixture
def table(tmp_path):
    """More rows than one process scores alone."""
    path = tmp_path / "in.csv"
    pandas.DataFrame({"document": nsmc.load("sample", "train").documents * 17}).to_csv(path, index=False)
    return path


@pytest.fixture
def scored(bundle_folder, table, tmp_path):
    """The table as one process scores it, up to rounding: other processes make other batches."""
    score_table(load_classifier(bundle_folder), table, tmp_path / "whole.csv", processes=1)
    others, probabilities = columns([tmp_path / "whole.csv"])
    return others, pytest.approx(probabilities, abs=1e-5)


def columns(paths):
    """Return the texts and labels of scored files, and the probabilities."""
    frame = pandas.concat([pandas.read_csv(path) for path in sorted(paths)])
    return frame[["document", "label"]].values.tolist(), frame["probability"].tolist()


@pytest.fixture
def predict(child, bundle_folder, table, scored, tmp_path):
    output = tmp_path / "disk" / "out.csv"
    output.parent.mkdir()
    arguments = ["predict", "--input", table, "--bundle", bundle_folder, "--output", output]
    return Scenario(child, output.parent, lambda: arguments, lambda: columns([output]), scored, SECONDS / 2, 800_000)


@pytest.fixture
def bulk(child, bundle_folder, table, scored, tmp_path):
    pytest.importorskip("distributed")
    folder = tmp_path / "disk" / "out"
    folder.parent.mkdir()
    options = "--rows 1500 --format csv --workers 2 --output".split()

    arguments = ["bulk", table, "--bundle", bundle_folder, *options, folder]
    return Scenario(child, folder.parent, lambda: arguments, lambda: columns(folder.glob("*.csv")), scored, SECONDS, 0)


class Slowly(http.server.SimpleHTTPRequestHandler):
    """Serves files in pieces, so that a download can be killed halfway."""

    def copyfile(self, source, target):
        with suppress(ConnectionError):
            while piece := source.read(8192):
                target.write(piece)
                time.sleep(0.02)

    def log_message(self, *values):
        pass


@pytest.fixture
def fetch(child, tmp_path):
    """From a local server, whose files count as the official ones."""
    source, target = nsmc.sample_folder(), tmp_path / "disk"
    target.mkdir()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *values: Slowly(*values, directory=str(source)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hashes = {part: nsmc.sha256((source / name).read_bytes()) for part, name in nsmc.FILES.items()}
    also = (
        "from nsmc_attention.tables import nsmc\n"
        f"nsmc.ADDRESS, nsmc.SHA256 = 'http://127.0.0.1:{server.server_port}/', {hashes}\n"
    )

    def result(folder=target):
        return digests(folder, *nsmc.FILES.values())

    yield Scenario(
        child, target, lambda: ["fetch", "nsmc", "--data-dir", target], result, result(source), 1.5, 40_000, also
    )
    server.shutdown()
    server.server_close()


def test_a_training_killed_in_a_checkpoint_resumes_to_the_same_bytes(train):
    assert train.die_at(9, "fsync")
    train.finish()


def test_an_adapting_that_is_killed_is_simply_started_again(child, command, bundle_folder, tmp_path, monkeypatch):
    """Between the files of its bundle, nothing is under a final name."""
    # passes over the table; the command makes up to 30
    module, few = "nsmc_attention.classification.adapt", (1, 1)
    monkeypatch.setattr(f"{module}.PASSES", few)
    table, run = tmp_path / "in.csv", tmp_path / "killed" / "run"
    nsmc.load("sample", "train").frame[:40].to_csv(table, index=False)
    given = ("adapt", table, "--bundle", bundle_folder, "--force", "--out")
    killed = child.dying_at(run, 3, "fsync", f"import {module}\n{module}.PASSES = {few}\n")
    assert killed.run(*given, run)[0] == -signal.SIGKILL
    assert not (run / "bundle").exists()
    for folder in (tmp_path / "whole", run):
        done = command(*given, folder)
        assert done.returncode == 0, done.stderr
    assert digests(run / "bundle", "model.safetensors") == digests(tmp_path / "whole" / "bundle", "model.safetensors")
    assert not list(run.rglob(".partial-*"))


def test_a_killed_prediction_is_simply_started_again(predict):
    assert predict.die(predict.child.dying_at_byte(predict.largest // 2))
    predict.finish()


@pytest.mark.parametrize(
    "line, name",
    [
        ("restore --input {films} --output", "a.csv"),
        ("film {films} --group-by 영화 --output", "a.xlsx"),
        # by the function that writes these two
        pytest.param("report {films} --output", "a.html", marks=pytest.mark.slow),
        pytest.param("film {films} --group-by 영화 --explain", "a.html", marks=pytest.mark.slow),
        pytest.param("export --output", "a.onnx", marks=pytest.mark.slow),
    ],
)
def test_killed_before_its_file_is_in_its_place_a_command_leaves_the_old_one(
    child, command, films_table, tmp_path, line, name
):
    output = tmp_path / "disk" / name
    output.parent.mkdir()
    output.write_bytes(b"old")
    arguments = [*line.format(films=films_table).split(), output]
    code, _, errors = child.dying_at(output.parent, 1, "os.rename").run(*arguments)
    assert (code, output.read_bytes()) == (-signal.SIGKILL, b"old"), errors
    assert [path for path in output.parent.iterdir() if path != output], "it had written"
    done = command(*arguments)
    assert done.returncode == 0 and output.stat().st_size > 1000, done.stderr
    assert list(output.parent.iterdir()) == [output]


@pytest.mark.slow
@pytest.mark.parametrize("name, kills", [("fetch", 40), ("predict", 30), ("export", 20), ("train", 90), ("bulk", 25)])
def test_killed_at_any_moment_it_ends_as_if_nothing_had_been(name, kills, request, draw):
    scenario = request.getfixturevalue(name)
    scenario.die_often(kills, draw)
    show(name, scenario)


@pytest.mark.slow
def test_killed_at_each_change_in_turn_an_export_leaves_a_whole_bundle(export):
    k = 1
    while export.die_at(k):
        assert load_engine(load_bundle(export.folder / "bundle", LAYOUT), "onnx")
        k += 1
    export.finish()
    show("export", export)


def show(name, scenario):
    print(
        f"{name}: {sum(scenario.deaths.values())} kills survived:",
        ", ".join(f"{number} {place}" for place, number in scenario.deaths.most_common()),
    )
