"""Junctions of their own for an editor that is trained already: fits them anew, and writes a copy of its bundle with them.

    OMP_NUM_THREADS=1 python -m recipes.junctions BUNDLE COPY FOLDER/train.txt
    python -m recipes.junctions BUNDLE COPY --weights OTHER/vocab.json

The sentences are those that the editor was trained on (recipes.clean_reviews), without its dev part. --weights takes
the junctions of another bundle instead.
"""

import argparse
import json
import resource
import shlex
import shutil
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import Optional

from nsmc_attention.bundle import model_card
from nsmc_attention.systems.restoration.junctions import Junctions, RestorerCharacters, fitted
from nsmc_attention.systems.restoration.settings import RestoreConfig
from nsmc_attention.systems.restoration.system import LAYOUT
from nsmc_attention.systems.restoration.train import MOST_DEV, sentences_of
from nsmc_attention.systems.sequences.batches import hold_out
from nsmc_attention.systems.sequences.characters import split_spaces


def divided(path: Path, config: RestoreConfig) -> tuple[list[str], list[str]]:
    """Return the sentences of a file that an editor of these settings is trained on, and its dev part."""
    sentences = sentences_of(path.read_text(encoding="utf-8").splitlines(), config)
    train, dev = (
        [sentences[number] for number in part] for part in hold_out(len(sentences), config.training, MOST_DEV)
    )
    return train, dev


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


def write_copy(bundle: Path, copy: Path, contents: dict[str, bytes], **values: int) -> None:
    """Write a copy of a bundle with other files and values of its manifest; it and the card have this command."""
    manifest = json.loads((bundle / "manifest.json").read_text("utf-8")) | values
    manifest["command"] += f" && {this_command()}"
    contents = {**contents, "README.md": model_card(LAYOUT, manifest).encode()}
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
