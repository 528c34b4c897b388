"""Junctions of their own for an editor that is trained already: fits them anew, and writes a copy of its bundle with them.

    OMP_NUM_THREADS=1 python -m benchmarks.junctions BUNDLE COPY FOLDER/train.txt
    python -m benchmarks.junctions BUNDLE COPY --weights OTHER/vocab.json

The sentences are those that the editor was trained on (benchmarks.clean_reviews), without its dev part. --weights takes
the junctions of another bundle instead.
"""

import argparse
import json
import resource
import shutil
import time
from hashlib import sha256
from pathlib import Path
from typing import Optional

from nsmc_attention.restoration.characters import Characters, split_spaces
from nsmc_attention.restoration.junctions import Junctions, fitted
from nsmc_attention.restoration.settings import RestoreConfig
from nsmc_attention.restoration.spelling import well_spelt
from nsmc_attention.restoration.train import MOST_DEV
from nsmc_attention.text.encoding import clean
from nsmc_attention.training.runs import hold_out


def fitted_to(path: Path, config: RestoreConfig) -> Junctions:
    """Return the junctions of an editor of these settings that is trained on a file, as `train_restorer` divides it."""
    lines = map(clean, path.read_text(encoding="utf-8").splitlines())
    sentences = [text for text in well_spelt(lines) if len(text) <= config.text.max_length]
    train, _ = hold_out(len(sentences), config.training, MOST_DEV)
    started = time.process_time()
    junctions = fitted(split_spaces(sentences[number]) for number in train)
    spent, most = time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{len(train):,} sentences: {spent:.0f} s of processor time, at most {most:.1f} GiB of memory")
    return junctions


def write(bundle: Path, copy: Path, junctions: Junctions) -> None:
    """Write a copy of a bundle with these junctions, and with the hash of its vocab.json in its manifest."""
    shutil.copytree(bundle, copy)
    vocabulary, manifest = (json.loads((copy / name).read_text("utf-8")) for name in ("vocab.json", "manifest.json"))
    content = Characters(tuple(vocabulary["characters"]), junctions).to_json().encode()
    manifest["files"]["vocab.json"] = sha256(content).hexdigest()
    (copy / "vocab.json").write_bytes(content)
    (copy / "manifest.json").write_text(json.dumps(manifest, ensure_ascii=False, indent=2) + "\n", "utf-8")
    print(f"{copy}: {len(junctions.weights):,} weights, vocab.json of {len(content):,} bytes")


def main(bundle: Path, copy: Path, sentences: Optional[Path], weights: Optional[Path]) -> None:
    if sentences:
        config = RestoreConfig.from_dict(json.loads((bundle / "manifest.json").read_text("utf-8"))["config"])
        junctions: Optional[Junctions] = fitted_to(sentences, config)
    else:
        assert weights
        junctions = Characters.from_json(weights.read_bytes(), weights).junctions
    if not junctions:
        raise SystemExit(f"{weights}: expected junctions, found none")
    write(bundle, copy, junctions)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("bundle", type=Path)
    parser.add_argument("copy", type=Path)
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("sentences", type=Path, nargs="?")
    given.add_argument("--weights", type=Path)
    main(**vars(parser.parse_args()))
