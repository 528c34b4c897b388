"""Coverage-guided fuzzing of the readers, the bundle loader and the way from text to ids, by atheris (libFuzzer).

    pip install atheris
    python tests/fuzz/coverage_guided.py -max_total_time=600 CORPUS_FOLDER

An input's first byte says which reader gets the rest. The corpus begins with sound files of each kind; what crashes
is left as a file crash-*, to be kept as a test. Ends by itself at the first other error than an NsmcError, after
20 seconds on one input, or at 2 GB.
"""

import sys
import tempfile
import warnings
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parent))

with atheris.instrument_imports(include=["nsmc_attention", "json", "zipfile", "csv"]):
    from nsmc_attention._io.spreadsheets import MARKED, as_cell
    from nsmc_attention.bundle.format import load_bundle
    from nsmc_attention.classification.engines import load_engine
    from nsmc_attention.classification.layout import LAYOUT
    from nsmc_attention.classification.settings import Config
    from nsmc_attention.errors import NsmcError
    from nsmc_attention.model.parameters import read_gluon_file, snapshot
    from nsmc_attention.reviews import raw, tables
    from nsmc_attention.text.encoding import ReviewEncoder, clean
    from nsmc_attention.text.tokenizers import tokenizer
    from nsmc_attention.training.checkpoint import read_arrays, read_progress

import files

warnings.simplefilter("ignore")
FOLDER = Path(tempfile.mkdtemp())
MATERIALS = files.Materials(FOLDER)
BUNDLE = files.written(FOLDER / "bundle", {name: MATERIALS.contents[name] for name in files.BUNDLE})
SOUND = load_bundle(BUNDLE, LAYOUT)


def manifest(content):
    (BUNDLE / "manifest.json").write_bytes(content)
    load_engine(load_bundle(BUNDLE, LAYOUT), "gluon")


def vocabulary(content):
    encoder = ReviewEncoder.from_json(content, files.CONFIG.text)
    list(encoder.encode_words(encoder.encode("정말 재미있는 영화").tokens).ids)


def weights(content):
    arrays = read_gluon_file(content, MATERIALS.network, "weights.params")
    assert arrays.keys() == snapshot(MATERIALS.network).keys()


def checkpoint(content):
    path = FOLDER / "checkpoint.safetensors"
    path.write_bytes(content)
    files.sealed_again(path, files.generator(1))
    read_progress(read_arrays(path), path)


def archive(content):
    path = FOLDER / "raw.zip"
    path.write_bytes(content)
    assert all(0 <= target <= 1 for target in raw.load(path, []).targets)


def film(content):
    (FOLDER / "films").mkdir(exist_ok=True)
    (FOLDER / "films" / "1.json").write_bytes(content)
    raw.load(FOLDER / "films", [])


def table(suffix):
    def read(content):
        path = FOLDER / f"table{suffix}"
        path.write_bytes(content)
        for piece in tables.chunks(path):
            assert all(isinstance(tables.as_text(value), str) for value in piece["document"])
        tables.read_labelled(path)

    return read


def text(content):
    for given in (content.decode("utf-8", "surrogateescape"), content.decode("utf-32-le", "replace")):
        cleaned = clean(given)
        assert cleaned == clean(cleaned)
        for name in ("characters", "whitespace", "mecab"):
            assert all(tokenizer(name)(cleaned))
        encoded = PACKAGED.encode(given)
        assert [encoded.text[start:end] for start, end in encoded.offsets()] == list(encoded.tokens)
        cell = as_cell(given)
        assert (cell[1:] if MARKED.match(cell) else cell) == given


def settings(content):
    import json

    try:
        values = json.loads(content)
    except (ValueError, RecursionError):
        return
    Config.from_dict(values)


PACKAGED = load_bundle(None, LAYOUT).codec
READERS = [
    (manifest, "manifest.json"),
    (vocabulary, "vocab.json"),
    (weights, "weights.params"),
    (checkpoint, "checkpoint.safetensors"),
    (archive, "raw.zip"),
    (film, "film.json"),
    (table(".csv"), "table.csv"),
    (table(".tsv"), "table.tsv"),
    (table(".txt"), "table.txt"),
    (table(".jsonl"), "table.jsonl"),
    (text, None),
    (settings, None),
]


def one(content):
    if content:
        read, _ = READERS[content[0] % len(READERS)]
        try:
            read(content[1:])
        except NsmcError as problem:
            assert str(problem).isprintable()


def begin(corpus):
    """Write sound inputs into the corpus."""
    corpus.mkdir(parents=True, exist_ok=True)
    for number, (_, name) in enumerate(READERS):
        content = MATERIALS.contents[name] if name else "정말 재미있는 영화였어요 ㅋㅋ 👍".encode()
        (corpus / f"sound-{number}").write_bytes(bytes([number]) + content)


if __name__ == "__main__":
    folders = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    for folder in folders:
        begin(Path(folder))
    atheris.Setup([*sys.argv, "-timeout=20", "-rss_limit_mb=2048", "-max_len=30000"], one)
    atheris.Fuzz()
