"""New junctions for a trained editor: fit them to sentences, and write a copy of its bundle.

    OMP_NUM_THREADS=1 python -m recipes.junctions BUNDLE COPY FOLDER/train.txt
    python -m recipes.junctions BUNDLE COPY --weights OTHER/vocab.json

The sentences are the editor's training sentences (recipes.clean_reviews) without its dev part. --weights copies the
junctions of another bundle instead.
"""

import argparse
import json
import resource
import shlex
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Optional

import numpy
from numpy.typing import NDArray

from nsmc_attention.bundle import model_card
from nsmc_attention.machine.aliases import Numbers
from nsmc_attention.native.dictionary import installed_decoder
from nsmc_attention.systems.restore.junctions import (
    AT_JUNCTION,
    IN_MORPHEME,
    UNIT,
    WEIGHT,
    Junctions,
    RestorerCharacters,
    hash_of,
    keys_of,
)
from nsmc_attention.systems.restore.settings import LAYOUT, RestoreConfig
from nsmc_attention.systems.restore.train import MOST_DEV, sentences_of
from nsmc_attention.systems.sequences.characters import split_spaces
from nsmc_attention.training.stage import hold_out

# At how many places a key must be to get a weight; smaller weights are left out
FEWEST, SMALLEST = 20, 0.3
# The strength of the penalty, as scikit-learn's C; texts whose keys are found at once
PENALTY, TEXTS = 0.3, 1000


def divided(path: Path, config: RestoreConfig) -> tuple[list[str], list[str]]:
    """Return the sentences of a file that an editor of these settings is trained on, and its dev part."""
    sentences = sentences_of(path.read_text(encoding="utf-8").splitlines(), config)
    train, dev = (
        [sentences[number] for number in part] for part in hold_out(len(sentences), config.training, MOST_DEV)
    )
    return train, dev


def hashed(texts: Sequence[str]) -> NDArray[numpy.uint32]:
    """Return (S, 12) of S characters: of the place after each how many keys it has, and their hashes."""
    found = numpy.zeros((sum(map(len, texts)), 1 + AT_JUNCTION), "uint32")
    decoder, begin = installed_decoder(), 0
    if decoder:
        decoder.keys(list(texts), found)
        return found
    for text in texts:
        for place, keys in enumerate(keys_of(text), begin):
            found[place, : 1 + len(keys)] = [len(keys), *map(hash_of, keys)]
        begin += len(text)
    return found


def fitted(sentences: Iterable[tuple[str, list[bool]]]) -> Junctions:
    """Return the weights that tell where sentences have their spaces.

    A sentence is its characters without the spaces, and of each whether a space follows.
    """
    numbers = (IN_MORPHEME, AT_JUNCTION)
    rest, parts = iter(sentences), [(list[Numbers](), list[Numbers]()) for _ in numbers]
    while some := list(islice(rest, TEXTS)):
        rows, follows = hashed([text for text, _ in some]), numpy.concatenate([spaces for _, spaces in some])
        for number, (hashes, spaces) in zip(numbers, parts):
            own = rows[:, 0] == number
            hashes.append(rows[own, 1 : 1 + number])
            spaces.append(follows[own])
    found = list[tuple[float, dict[int, int]]]()
    for number, (hashes, spaces) in zip(numbers, parts):
        keys = numpy.concatenate([numpy.zeros((0, number), "uint32"), *hashes])
        hashes.clear()
        found.append(regression(keys, numpy.concatenate([numpy.zeros(0, "bool"), *spaces])))
    (inside, of_inside), (junction, of_junctions) = found
    return Junctions.of({**of_inside, **of_junctions}, junction, inside)


def regression(hashes: NDArray[numpy.uint32], spaces: Numbers) -> tuple[float, dict[int, int]]:
    """Return constant and weights of a logistic regression on the keys of places (N, K), by whether each has a space."""
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    count = int(spaces.sum())
    if count in (0, len(spaces)):
        # no places, or all are alike: as if there was one more of either kind
        return round(float(numpy.log((count + 1) / (len(spaces) - count + 1))), 2), {}
    known = [numpy.zeros(0, "uint32")]
    columns = numpy.empty(hashes.shape, "int32")
    for key, column in enumerate(hashes.T):
        names, order, counts = numpy.unique(column, return_inverse=True, return_counts=True)
        common = counts >= FEWEST
        columns[:, key] = numpy.where(common, numpy.cumsum(common) - 1 + sum(map(len, known)), -1)[order]
        known.append(names[common])
    keys, present = numpy.concatenate(known), columns >= 0
    ends = numpy.append(0, numpy.cumsum(present.sum(axis=1)))
    ones = numpy.ones(ends[-1], "float32")
    places = csr_matrix((ones, columns[present], ends), shape=(len(hashes), max(1, len(keys))))
    del columns, present
    model = LogisticRegression(C=PENALTY, max_iter=200).fit(places, spaces)
    weights = numpy.clip(numpy.round(model.coef_[0] * UNIT), -127, 127).astype(WEIGHT)
    large = numpy.flatnonzero(abs(model.coef_[0][: len(keys)]) >= SMALLEST)
    return round(float(model.intercept_[0]), 2), dict(zip(keys[large].tolist(), weights[large].tolist()))


def fitted_to(path: Path, config: RestoreConfig) -> Junctions:
    """Return the junctions of an editor of these settings that is trained on a file."""
    train, _ = divided(path, config)
    started = time.process_time()
    junctions = fitted(map(split_spaces, train))
    spent, most = time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{len(train):,} sentences: {spent:.0f} s of processor time, at most {most:.1f} GiB of memory")
    return junctions


def with_junctions(bundle: Path, junctions: Junctions) -> bytes:
    """Return the vocab.json of a bundle with these junctions."""
    # whatever junctions it has, those of an older version too
    values = {**json.loads((bundle / "vocab.json").read_bytes()), "junctions": junctions.to_dict()}
    return json.dumps(values, ensure_ascii=False).encode()


def write_copy(bundle: Path, copy: Path, contents: dict[str, bytes], layout: Any = LAYOUT, **values: int) -> None:
    """Write a copy of a bundle with other files and values of its manifest; it and the card have this command."""
    manifest = json.loads((bundle / "manifest.json").read_text("utf-8")) | values
    manifest["command"] += f" && {this_command()}"
    contents = {**contents, "README.md": model_card(layout, manifest).encode()}
    shutil.copytree(bundle, copy)
    for name, content in contents.items():
        (copy / name).write_bytes(content)
        manifest["files"][name] = sha256(content).hexdigest()
    (copy / "manifest.json").write_text(json.dumps(manifest, ensure_ascii=False, indent=2) + "\n", "utf-8")
    print(f"{copy}: {', '.join(f'{name} of {len(content):,} bytes' for name, content in contents.items())}")


def this_command() -> str:
    """Return the command that runs, of paths the last two names."""
    module, *arguments = sys.argv
    short = ("/".join(Path(each).parts[-2:]) if "/" in each else each for each in arguments)
    return shlex.join(["python", "-m", f"recipes.{Path(module).stem}", *short])


def main(bundle: Path, copy: Path, sentences: Optional[Path], weights: Optional[Path]) -> None:
    if sentences:
        config = RestoreConfig.from_dict(json.loads((bundle / "manifest.json").read_text("utf-8"))["config"])
        junctions: Optional[Junctions] = fitted_to(sentences, config)
    else:
        assert weights
        junctions = RestorerCharacters.from_json(weights.read_bytes(), weights).junctions
    if not junctions:
        raise SystemExit(f"{weights}: expected junctions, found none")
    print(f"{len(junctions.weights):,} weights")
    write_copy(bundle, copy, {"vocab.json": with_junctions(bundle, junctions)})


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("bundle", type=Path)
    parser.add_argument("copy", type=Path)
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("sentences", type=Path, nargs="?")
    given.add_argument("--weights", type=Path)
    main(**vars(parser.parse_args()))
