"""kill -9 at any moment: nothing half-written under a final name, and the next start ends as if nothing had been.

The default run has a short form. The long one, more than 200 kills, with figures by where they struck, takes
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

from nsmc_attention.bundle.format import load_bundle
from nsmc_attention.inference.engines import load_engine
from nsmc_attention.reviews import nsmc
from nsmc_attention.training.checkpoint import read_arrays

KINDS = ("os.rename", "fsync", "os.mkdir", "open", "os.remove", "shutil.rmtree")
# As on a disk that cannot exchange two names
NO_EXCHANGE = "from nsmc_attention._io import atomic\natomic.exchange = lambda one, other: False\n"


@dataclass
class Scenario:
    """A command that is killed and started again.

    Attributes
    ----------
    folder : Path
        All that it writes is in here, and nothing else.
    arguments : callable
        Answers the arguments of the next start.
    result : callable
        Answers what a finished run left; `expected` is what it must be.
    seconds : float
        How long it takes.
    largest : int
        Bytes of the largest file that it writes itself; 0 where its workers do.
    also : str
        Code that runs before it.
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
        """Start it as `child`, which dies; answer whether it did, or ended before."""
        code, _, errors = child.run(*self.arguments())
        assert code in (0, -signal.SIGKILL, -signal.SIGXFSZ), errors
        check_whole(self.folder)
        if code:
            self.deaths[stage(self.folder)] += 1
        return code != 0

    def die_at(self, k, kind="any"):
        return self.die(self.child.dying_at(self.folder, k, kind, self.also))

    def die_somewhere(self, draw):
        """Die by the clock, within a write, or at a change to the disk."""
        how = draw.randrange(4)
        if how == 0:
            return self.die_at(draw.randint(1, 12), draw.choice(KINDS))
        if how == 1 and self.largest:
            return self.die(self.child.dying_at_byte(draw.randint(1, self.largest), self.also))
        return self.die(self.child.dying_after(draw.uniform(0, self.seconds), self.also))

    def finish(self):
        """Start it once more: it ends well and as if nothing had been, and nothing of the dead is left."""
        code, _, errors = self.child(code=self.child.code + self.also).run(*self.arguments())
        assert code == 0, errors
        assert self.result() == self.expected
        assert not list(self.folder.rglob(".partial-*"))

    def die_often(self, kills, draw):
        """Kill so often; whenever it ends, by itself or because that was not to be awaited, it ends well."""
        while sum(self.deaths.values()) < kills:
            if not self.die_somewhere(draw) or draw.random() < 0.2:
                self.finish()
                empty(self.folder)
        self.finish()


def empty(folder):
    shutil.rmtree(folder)
    folder.mkdir()


def check_whole(folder):
    """Whatever stands under a final name is whole."""
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
            load_bundle(path.parent)


def stage(folder):
    """Say where it died, by what is there: the file it was writing, or the last that it had written."""
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
def train(child, training, trained, tmp_path):
    run = tmp_path / "disk" / "run"
    run.parent.mkdir()

    def arguments():
        return [*training, run, *(["--resume"] if (run / "settings.json").exists() else [])]

    def result(run=run):
        return digests(run / "bundle", "weights.params", "model.onnx", "vocab.json", "manifest.json"), history(run)

    return Scenario(child, run.parent, arguments, result, result(trained[0]), trained[1], 200_000)


@pytest.fixture
def export(child, trained, tmp_path):
    """Into the bundle itself, which is then another folder of the same name."""
    bundle = tmp_path / "disk" / "bundle"
    bundle.parent.mkdir()

    def arguments():
        if not (bundle.exists() or list(bundle.parent.iterdir())):
            shutil.copytree(trained[0] / "bundle", bundle)
        return ["export", "--bundle", bundle]

    def result():
        load_bundle(bundle)
        return digests(bundle, "weights.params", "model.onnx")

    return Scenario(
        child,
        bundle.parent,
        arguments,
        result,
        digests(trained[0] / "bundle", "weights.params", "model.onnx"),
        trained[1] / 2,
        30_000,
    )


@pytest.fixture
def table(tmp_path):
    """More than one piece, so that worker processes score it."""
    path = tmp_path / "in.csv"
    pandas.DataFrame({"document": nsmc.load("sample", "train").documents * 17}).to_csv(path, index=False)
    return path


@pytest.fixture
def predict(child, trained, table, tmp_path):
    arguments = ["predict", "--input", table, "--bundle", trained[0] / "bundle", "--output"]
    begun = time.monotonic()
    assert child().run(*arguments, tmp_path / "whole.csv")[0] == 0
    seconds = time.monotonic() - begun
    output = tmp_path / "disk" / "out.csv"
    output.parent.mkdir()
    whole = tmp_path / "whole.csv"
    return Scenario(
        child,
        output.parent,
        lambda: [*arguments, output],
        output.read_bytes,
        whole.read_bytes(),
        seconds,
        whole.stat().st_size,
    )


@pytest.fixture
def bulk(child, trained, table, tmp_path):
    pytest.importorskip("distributed")
    arguments = [
        "bulk",
        table,
        "--bundle",
        trained[0] / "bundle",
        "--rows",
        1500,
        "--format",
        "csv",
        "--workers",
        2,
        "--output",
    ]
    begun = time.monotonic()
    assert child().run(*arguments, tmp_path / "whole")[0] == 0
    seconds = time.monotonic() - begun
    disk = tmp_path / "disk"
    disk.mkdir()

    def result(folder=disk / "out"):
        return {path.name: path.read_bytes() for path in folder.glob("*.csv")}

    return Scenario(child, disk, lambda: [*arguments, disk / "out"], result, result(tmp_path / "whole"), seconds, 0)


class Slowly(http.server.SimpleHTTPRequestHandler):
    """Serves files in pieces, so that there is a time within a download."""

    def copyfile(self, source, target):
        with suppress(ConnectionError):
            while piece := source.read(8192):
                target.write(piece)
                time.sleep(0.02)

    def log_message(self, *values):
        pass


@pytest.fixture
def fetch(child, tmp_path):
    """From a server here, whose files the child is told to take for the official ones."""
    source, target = nsmc.sample_folder(), tmp_path / "disk"
    target.mkdir()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *values: Slowly(*values, directory=str(source)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hashes = {part: nsmc.sha256((source / name).read_bytes()) for part, name in nsmc.FILES.items()}
    also = (
        "from nsmc_attention.reviews import nsmc\n"
        f"nsmc.ADDRESS, nsmc.SHA256 = 'http://127.0.0.1:{server.server_port}/', {hashes}\n"
    )

    def result(folder=target):
        return digests(folder, *nsmc.FILES.values())

    yield Scenario(
        child, target, lambda: ["fetch", "nsmc", "--data-dir", target], result, result(source), 1.5, 40_000, also
    )
    server.shutdown()
    server.server_close()


def test_a_training_killed_again_and_again_goes_on_to_the_same_bytes(train):
    """Within a checkpoint, and between a file and its name."""
    for k, kind in ((9, "fsync"), (14, "os.rename")):
        assert train.die_at(k, kind)
    train.finish()


def test_a_training_killed_while_its_bundle_is_written_ends_with_it(train, trained):
    """Right after it has replaced an older one."""
    shutil.copytree(trained[0], train.folder / "run")
    assert train.die_at(1, "shutil.rmtree")
    assert train.deaths == {"while writing partial-bundle": 1}
    train.finish()


def test_a_killed_download_is_simply_started_again(fetch):
    assert fetch.die(fetch.child.dying_at_byte(20_000, fetch.also))
    assert fetch.die_at(1, "os.rename") and fetch.die_at(3, "fsync")
    fetch.finish()


def test_a_killed_prediction_is_simply_started_again(predict):
    assert predict.die(predict.child.dying_at_byte(predict.largest // 2))
    predict.finish()


def test_a_killed_bulk_goes_on_where_it_was(bulk):
    bulk.die(bulk.child.dying_after(0.8 * bulk.seconds))
    bulk.finish()


@pytest.mark.parametrize(
    "also, k, kind",
    [("", 1, "shutil.rmtree"), (NO_EXCHANGE, 2, "os.rename")],
    ids=["right after the exchange", "between two renames where there is no exchange"],
)
def test_a_bundle_is_there_when_its_replacement_is_killed(export, also, k, kind):
    """Elsewhere than on Linux, the old one is beside it, and is renamed back."""
    export.also = also
    assert export.die_at(k, kind)
    assert (export.folder / "bundle").exists() == (also == "")
    rename_back(export.folder)
    load_bundle(export.folder / "bundle")
    export.finish()


def rename_back(folder):
    """Do what the README tells where a bundle is missing."""
    if not (folder / "bundle").exists():
        (old,) = folder.glob("bundle.old-*")
        old.rename(folder / "bundle")


@pytest.mark.slow
@pytest.mark.parametrize("name, kills", [("fetch", 40), ("predict", 30), ("export", 20), ("train", 90), ("bulk", 25)])
def test_killed_at_any_moment_it_ends_as_if_nothing_had_been(name, kills, request, draw):
    scenario = request.getfixturevalue(name)
    scenario.die_often(kills, draw)
    show(name, scenario)


@pytest.mark.slow
@pytest.mark.parametrize("also", ["", NO_EXCHANGE], ids=["in one step", "in two"])
def test_killed_at_each_change_in_turn_an_export_leaves_a_whole_bundle(export, also):
    export.also, k = also, 1
    while export.die_at(k):
        assert also or (export.folder / "bundle" / "manifest.json").exists()
        rename_back(export.folder)
        assert load_engine(load_bundle(export.folder / "bundle"), "onnx")
        k += 1
    export.finish()
    show("export", export)


def show(name, scenario):
    print(
        f"{name}: {sum(scenario.deaths.values())} kills survived:",
        ", ".join(f"{number} {place}" for place, number in scenario.deaths.most_common()),
    )
