"""Run every reader of the package on mutated files in this process, with limits on time and memory.

    python benchmarks/fuzz/files.py 2500 [FIRST_SEED]

Each seed is one mutated file of a run folder, of the raw archive, or a table. The outcome must be a one-line NsmcError or a
result with valid probabilities. The script prints counts as a JSON object; any other outcome ends it with a traceback, and a
crash or a minute without an outcome with a signal. An audit hook watches what is run, opened for writing or unpickled.
"""

import csv
import gzip
import io
import json
import math
import os
import resource
import shutil
import signal
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

# Python loads a codec when it is first used, which is no unpickling
import encodings.cp949
import encodings.utf_16_be
import encodings.utf_16_le  # noqa: F401

import pandas
from mutations import generator, mutated, mutated_json

import nsmc_attention.machine.mxnet_shim  # noqa: F401
from nsmc_attention.apps.bulk import check_plan
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.classifier.settings import preset
from nsmc_attention.corpora import nsmc, raw
from nsmc_attention.corpora.labelled import load_reviews
from nsmc_attention.errors import NsmcError
from nsmc_attention.machine.mxnet_shim import import_mxnet
from nsmc_attention.scoring.files import score_table

mxnet = import_mxnet()

from nsmc_attention.text.encoding import ReviewEncoder  # noqa: E402
from nsmc_attention.text.preprocessing import build_vocab  # noqa: E402
from nsmc_attention.training.checkpoint import Average, Checkpoint, Progress  # noqa: E402
from nsmc_attention.training.loop import make_trainer  # noqa: E402
from nsmc_attention.training.runs import Run  # noqa: E402

CONFIG = preset("default").with_fields(
    tokenizer="characters", embedding_size=4, hidden_size=4, attention_units=3, ngram_buckets=64, max_length=16
)
TEXTS = ["정말 재미있는 영화였어요", "지루하고 돈이 아까워요", "!", "가" * 40]
SECONDS, ADDRESSES, GROWTH = 60, 6 * 2**30, 700 * 2**20
FORBIDDEN = {*"pickle.find_class os.system subprocess.Popen os.exec os.posix_spawn os.fork".split()}
FORBIDDEN |= {"socket.connect", "marshal.loads", "code.__new__"}
TABLES = [f"table.{suffix}" for suffix in "csv tsv txt jsonl json parquet xlsx xlsx csv.gz".split()]
RUN = ["checkpoint.safetensors", "best.safetensors", "settings.json"]
KINDS = [*RUN, "raw.zip", "film.json", "_plan.json", *TABLES]


class Watch:
    """Fails on what no reader may do, while a file is being read."""

    def __init__(self, folder):
        self.folder, self.on = str(folder), False
        sys.addaudithook(self)

    def __call__(self, event, arguments):
        if self.on and event in FORBIDDEN:
            os.write(2, f"forbidden: {event} {arguments!r:.300}\n".encode())
            os._exit(3)
        if (
            self.on
            and event == "open"
            and isinstance(arguments[0], str)
            and arguments[2] & (os.O_WRONLY | os.O_RDWR)
            and not arguments[0].startswith((self.folder, "/dev/null"))
        ):
            os.write(2, f"forbidden: writes {arguments[0]!r:.300}\n".encode())
            os._exit(3)


class Materials:
    """Small sound files of every kind, made without training, in memory; and the network they belong to."""

    def __init__(self, folder):
        mxnet.random.seed(0)
        texts = nsmc.load("sample", "train").documents[:100]
        vocabulary = build_vocab([list(text) for text in texts], CONFIG.text)
        encoder = ReviewEncoder.from_json(vocabulary.to_json(), CONFIG.text)
        self.network = CONFIG.network(len(encoder))
        self.network.initialize(mxnet.init.Xavier())
        self.network.ngram_table.weight.set_data(mxnet.nd.random.uniform(shape=(64, 2)))
        ids = encoder.batch([encoder.encode(text) for text in texts[:4]])
        self.batch = [mxnet.nd.array(array) for array in ids]
        self.network(*self.batch)
        self.contents = {**self.run(folder / "run"), **data()}

    def run(self, folder):
        folder.mkdir()
        self.trainer = make_trainer(self.network, CONFIG.training.labels.learning_rate)
        self.average = Average(self.network, 0.5)
        checkpoint = Checkpoint(folder)
        with mxnet.autograd.record():
            loss = self.network(*self.batch)[0].sum()
        loss.backward()
        self.trainer.step(1)
        figures = {"train_loss": 1.0, "dev_accuracy": 0.5, "dev_f1": 0.5, "dev_log_loss": 0.7, "dev_ece": 0.1}
        record = {"epoch": 1, "steps": 1, "seconds": 1.0, **figures, "dev_entropy": 0.9}
        progress = Progress(1, 1, 1.0, 0.7, 0, {"log_loss": 0.9}, [record])
        checkpoint.save(self.network, self.trainer, self.average, progress)
        checkpoint.save_best(self.network)
        settings = json.dumps({"data": {"name": "sample", "sha256": "0"}, "valid": None, "config": CONFIG.to_dict()})
        return {
            "checkpoint.safetensors": (folder / "checkpoint.safetensors").read_bytes(),
            "best.safetensors": (folder / "best.safetensors").read_bytes(),
            "settings.json": settings.encode(),
        }


def data():
    """Return sound tables and archives."""
    rows = [{"document": text, "label": str(number % 2), "film": f"영화 {number}"} for number, text in enumerate(TEXTS)]
    contents = {
        "table.jsonl": "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode(),
        "table.txt": "id\tdocument\tlabel\n1\t좋다\t1\n2\t나쁘다\t0\n".encode(),
        "_plan.json": json.dumps({"rows": 1, "style": "csv"}).encode(),
    }
    frame = pandas.DataFrame(rows)
    contents["table.csv"], contents["table.tsv"] = frame.to_csv().encode(), frame.to_csv(sep="\t").encode()
    contents["table.csv.gz"] = gzip.compress(contents["table.csv"], mtime=0)
    contents["table.json"] = frame.to_json(orient="records", indent=1).encode()
    frame.to_excel(written := io.BytesIO())
    contents["table.xlsx"] = written.getvalue()
    contents["table.parquet"] = frame.assign(n=1, tags=[["a"]] * len(rows)).to_parquet()
    reviews = [
        {"review_id": str(number), "movie_id": "1", "review": text, "rating": "8", "date": "15.06.09"}
        for number, text in enumerate(TEXTS)
    ]
    contents["film.json"] = json.dumps(reviews, ensure_ascii=False).encode()
    films = {f"x/raw/{film}.json": contents["film.json"].replace(b'"1"', b'"%d"' % film) for film in range(3)}
    return {**contents, "raw.zip": zipped(films)}


def stranger(kind, materials, draw):
    """Return the content of one file that a stranger hands over, of a workbook mostly with another part."""
    content = materials.contents[kind]
    if kind == "table.xlsx" and draw.random() < 0.7:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        name = draw.choice([*parts])
        return zipped({**parts, name: mutated(parts[name], draw)})
    return (mutated_json if kind.endswith(".json") and draw.random() < 0.6 else mutated)(content, draw)


def zipped(parts):
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return written.getvalue()


def read_as(kind, folder, materials, draw):
    """Read the stranger's file as the package would; return probabilities, where there are any."""
    if kind == "checkpoint.safetensors":
        progress = Checkpoint(folder).load(materials.network, materials.trainer, materials.average)
        return [0.0 if math.isfinite(value) else value for value in (*progress.before.values(), progress.train_loss)]
    if kind == "best.safetensors":
        return Checkpoint(folder).load_best(materials.network) or []
    if kind == "settings.json":
        Run(folder, resume=True).check(json.loads(materials.contents[kind]))
        return []
    if kind == "_plan.json":
        # beside no output a plan is written anew
        (folder / "0000-table-00000.csv").touch()
        check_plan(folder, json.loads(materials.contents[kind]))
        return []
    if kind in ("raw.zip", "film.json"):
        found = raw.load(folder / kind if kind == "raw.zip" else folder, [])
        return found.targets.tolist()
    return scored(folder / kind, materials, draw)


def scored(path, materials, draw):
    output = path.with_name("scored" + draw.choice([".csv", ".jsonl", ".tsv"]))
    if path.suffix not in (".parquet", ".xlsx") and draw.random() < 0.3:
        return load_reviews(path).labels.tolist()
    score_table(materials.classifier, path, output, weights=output.suffix == ".jsonl", processes=1)
    with open(output, encoding="utf-8", newline="") as file:
        if output.suffix == ".jsonl":
            answers = [json.loads(line) for line in file]
            return [answer["probability"] for answer in answers if "probability" in answer]
        rows = csv.DictReader(file, delimiter="," if output.suffix == ".csv" else "\t")
        return [float(row["probability"]) for row in rows if row.get("probability")]


def judged(kind, folder, materials, draw, watch):
    """Return "refused" or "answered"; AssertionError for anything else."""
    watch.on = True
    try:
        found = read_as(kind, folder, materials, draw)
    except NsmcError as problem:
        line = str(problem)
        assert line.isprintable() and len(line) < 700, line
        print(line, file=sys.stderr)
        return "refused"
    finally:
        watch.on = False
    assert all(value is None or 0 <= value <= 1 for value in found), found
    return "answered"


def campaign(count, first, folder):
    """Try `count` seeds; return the counts by kind of file and outcome."""
    materials, found = Materials(folder), Counter()
    materials.classifier = load_classifier(engine="onnx")
    for kind in dict.fromkeys(KINDS):
        # sound files are answered, and what is imported late is imported before the watch
        for seed in range(4 if kind not in ("settings.json", "_plan.json") else 1):
            place = written(folder / "warm", kind, materials.contents[kind])
            read_as(kind, place, materials, generator(seed))
    watch, before = Watch(folder), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    limit_memory()
    for seed in range(first, first + count):
        draw = generator(seed)
        kind = KINDS[seed % len(KINDS)]
        print(f"seed {seed} {kind}", file=sys.stderr, flush=True)
        signal.alarm(SECONDS)
        place = written(folder / f"stranger{seed}", kind, stranger(kind, materials, draw))
        found[f"{kind} {judged(kind, place, materials, draw, watch)}"] += 1
        shutil.rmtree(place)
        signal.alarm(0)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    assert grown < GROWTH, f"memory grew by {grown / 2**20:.0f} MiB"
    return {
        "tried": count,
        **{
            outcome: sum(number for name, number in found.items() if name.endswith(outcome))
            for outcome in ("refused", "answered")
        },
        "megabytes_more": grown >> 20,
        "by_kind": dict(sorted(found.items())),
    }


def written(folder, name, content):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / name).write_bytes(content)
    return folder


def limit_memory():
    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ADDRESSES, used + ADDRESSES))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        print(json.dumps(campaign(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0, Path(temporary))))
