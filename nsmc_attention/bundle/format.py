"""A trained model as a folder of plain files: written whole or not at all, each verified before it is used.

    manifest.json   schema, task, versions, labels, config, data, metrics, sha256 of every other file
    vocab.json      gluonnlp's Vocab.to_json(); of restore, the characters; a film's bundle has scale.json in its place
    weights.params  Gluon parameters
    model.onnx      the same function for ONNX Runtime; of a writer, source.onnx and step.onnx; of film, reviews.onnx and
                    film.onnx
    README.md       model card

A sha256 proves that a copy is whole, not who made it: the readers of the files check their contents.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

from .._io.atomic import replaced_folder
from .._io.bounded import bounded_size, read_file, read_json
from ..config import TASKS, TaskConfig
from ..errors import BundleError, ConfigError, listed
from ..text.characters import Characters
from ..text.encoding import Encoder
from ..text.tokenizers import tokenizer_version
from .migration import migrated
from .scale import Scale

SCHEMA = 4
LABELS = ("negative", "positive")
REQUIRED = ("vocab.json", "weights.params")
# Instead of these, by task
REQUIRED_BY = {"film": ("scale.json", "weights.params")}
# Bytes that a file may have; as JSON, a vocabulary of 16,000 has 0.6 MB
MANIFEST = 2**20
LARGEST = {"vocab.json": 2**25, "weights.params": 2**30, "model.onnx": 2**30, "README.md": 2**20}
LARGEST.update(dict.fromkeys(("source.onnx", "step.onnx", "reviews.onnx", "film.onnx"), 2**30))
LARGEST["scale.json"] = 2**20
# Those that came with the package: the classifier's, of restore the editor's and the writer's, the language model's, film's
PRETRAINED = Path(__file__).parent.parent / "pretrained"
EDITOR, WRITER = PRETRAINED.with_name("pretrained_editor"), PRETRAINED.with_name("pretrained_writer")
LANGUAGE, FILM = PRETRAINED.with_name("pretrained_language"), PRETRAINED.with_name("pretrained_film")
PACKAGED = (PRETRAINED, EDITOR, WRITER, LANGUAGE, FILM)
# A bundle without its task is a classifier's: there was no other when it was written
CLASSIFY = "classify"
COMMANDS = {CLASSIFY: "predict", "restore": "restore", "language": "fill", "film": "film"}


@dataclass(frozen=True)
class Bundle:
    """A bundle whose files are verified when they are read.

    `encoder` is an Encoder, of restore Characters, of film a Scale, `config` that of the task.
    """

    folder: Path
    manifest: dict[str, Any]
    config: Any
    encoder: Any

    @property
    def name(self) -> str:
        """Name in results: "pretrained" or the folder's last two names, never a whole path."""
        return self.folder.name if self.packaged else "/".join(self.folder.resolve().parts[-2:])

    @property
    def packaged(self) -> bool:
        """Whether it came with the package and is trusted like its code."""
        return self.folder in PACKAGED

    @property
    def fingerprint(self) -> str:
        """SHA-256 over file hashes and config; equal fingerprints, equal predictions."""
        parts = [self.manifest["files"], self.config.to_dict()]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def read(self, name: str) -> bytes:
        """Return the content of one file; BundleError if it was altered, or this bundle has none."""
        return verified(self.folder, name, self.manifest["files"][self.file(name).name])

    def file(self, name: str) -> Path:
        """Return the path of one file; BundleError if this bundle has none."""
        if name not in self.manifest["files"]:
            raise BundleError(
                f"{self.folder}: has no {name}; write it with `nsmc-attention export --bundle "
                f"{self.folder}`, or use --engine gluon"
            )
        return self.folder / name


def write_bundle(folder: Union[str, Path], manifest: dict[str, Any], contents: dict[str, bytes]) -> None:
    """Write a bundle as `folder`, replacing the one that was there in one move.

    `contents` is {file name: bytes}, at least of REQUIRED; the manifest's `files`, and its `schema`
    and a classifier's `labels` if it has none, are added here.
    """
    files = {name: hashlib.sha256(content).hexdigest() for name, content in sorted(contents.items())}
    labels = {"labels": list(LABELS)} if manifest.get("task", CLASSIFY) == CLASSIFY else {}
    whole = {"schema": SCHEMA, **labels, **manifest, "files": files}
    text = json.dumps(whole, ensure_ascii=False, indent=2) + "\n"
    write_contents(folder, {**contents, "manifest.json": text.encode(errors="replace")})


def write_contents(folder: Union[str, Path], contents: dict[str, bytes]) -> None:
    """Write a bundle from all its files as they are."""
    with replaced_folder(folder) as temporary:
        for name, content in contents.items():
            (temporary / name).write_bytes(content)


def read_contents(bundle: Bundle) -> dict[str, bytes]:
    """Return {file name: bytes} of every file that the manifest lists."""
    return {name: bundle.read(name) for name in bundle.manifest["files"]}


def read_all(bundle: Bundle) -> dict[str, bytes]:
    """Return what `write_contents` writes again as the same bundle: every file, the manifest among them."""
    return {**read_contents(bundle), "manifest.json": (bundle.folder / "manifest.json").read_bytes()}


def load_bundle(folder: Optional[Union[str, Path]] = None, task: Optional[str] = CLASSIFY) -> Bundle:
    """Return a bundle of a task, None for any; of a run folder, its bundle; without a folder, the packaged one.

    BundleError where it is of another task or schema, a file is missing, foreign, a link or too large, the vocabulary was
    altered, or the tokenizer or dictionary that is installed is not the one the vocabulary was made with. The other files,
    of which an engine needs one, are verified when they are read.
    """
    folder = Path(folder) if folder else PRETRAINED
    if not (folder / "manifest.json").exists() and (folder / "bundle" / "manifest.json").is_file():
        folder = folder / "bundle"
    manifest = read_manifest(folder)
    # as text, of which another JSON value is no task
    found = str(manifest.get("task", CLASSIFY))
    if found not in (TASKS if task is None else (task,)):
        use = f"; use it with `nsmc-attention {COMMANDS[found]}`" if found in COMMANDS else ""
        raise BundleError(f"{folder}: expected a bundle of the task {task or ' or '.join(TASKS)}, found {found!r}{use}")
    for name in manifest["files"]:
        require_file(folder, name)
        bounded_size(folder / name, LARGEST[name], BundleError)
    foreign = sorted({path.name for path in folder.iterdir()} - {"manifest.json", *manifest["files"]})
    if foreign:
        raise BundleError(
            f"{folder}: holds a foreign file {foreign[0][:60]!r}, which the manifest does not list; remove it"
        )
    try:
        config = TASKS[found].from_dict(manifest.get("config"))
    except (ConfigError, TypeError) as problem:
        raise BundleError(f"{folder / 'manifest.json'}: {problem}") from problem
    name = REQUIRED_BY.get(found, REQUIRED)[0]
    content = verified(folder, name, manifest["files"][name])
    if found == "film":
        return Bundle(folder, manifest, config, Scale.from_json(content, folder / name))
    encoder = read_encoder(folder, manifest, content, config)
    if len(encoder) != manifest.get("vocabulary"):
        raise BundleError(f"{folder}: expected a vocabulary of {manifest.get('vocabulary')}, found {len(encoder)}")
    return Bundle(folder, manifest, config, encoder)


def read_encoder(folder: Path, manifest: dict[str, Any], vocabulary: bytes, config: TaskConfig) -> Any:
    """Return what turns texts into ids for the bundle's network; BundleError if it is not what it was trained with."""
    settings: Any = config
    where = folder / "vocab.json"
    if settings.task == "restore":
        return Characters.from_json(vocabulary, where)
    made_with, found = manifest.get("tokenizer_version"), tokenizer_version(settings.text.tokenizer)
    if made_with != found:
        raise BundleError(
            f"{folder}: its vocabulary was made with {made_with}, found {found}; other versions give "
            "other tokens: install the ones named first, or train again"
        )
    return Encoder.from_json(vocabulary, settings.text, where=where)


def read_manifest(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise BundleError(f"{folder}: no such bundle folder; make one with `nsmc-attention train`")
    path = folder / "manifest.json"
    if (folder / "settings.json").is_file():
        raise BundleError(f"{folder}: a run whose training has not ended; continue it with train --resume")
    if not path.is_file():
        raise BundleError(
            f"{folder} has no manifest.json (found {names_in(folder)}); is it the folder `bundle` of a run?"
        )
    content = read_file(path, MANIFEST, BundleError)
    manifest: dict[str, Any] = read_json(content, path, BundleError, "a bundle's manifest")
    try:
        if not all(isinstance(each, dict) for each in (manifest["files"], *manifest["metrics"].values())):
            raise TypeError("files or figures that are not named")
        if manifest["schema"] == 3:
            manifest = migrated(manifest)
        schema = manifest["schema"]
    except (KeyError, TypeError, AttributeError, ConfigError) as problem:
        raise BundleError(f"{path}: expected a bundle's manifest, found something else; was it altered?") from problem
    if schema != SCHEMA:
        raise BundleError(
            f"{path}: expected schema {SCHEMA}, found {str(schema)[:20]}; "
            "this bundle needs another version of nsmc_attention"
        )
    if manifest.get("task", CLASSIFY) == CLASSIFY and manifest.get("labels") != list(LABELS):
        raise BundleError(f"{path}: expected the labels {list(LABELS)}, found {str(manifest.get('labels'))[:60]}")
    foreign = sorted(set(manifest["files"]) - set(LARGEST))
    if foreign:
        raise BundleError(f"{path}: lists a foreign file {foreign[0][:60]!r}")
    required = REQUIRED_BY.get(str(manifest.get("task")), REQUIRED)
    missing = [name for name in required if name not in manifest["files"]]
    if missing:
        raise BundleError(f"{path}: does not list {missing[0]}; was the training interrupted?")
    return manifest


def names_in(folder: Path) -> str:
    return listed(sorted(file.name for file in folder.iterdir()))


def require_file(folder: Path, name: str) -> None:
    if not (folder / name).is_file():
        raise BundleError(f"{folder} has no {name} (found {names_in(folder)}); was the copy interrupted?")


def verified(folder: Path, name: str, expected: object) -> bytes:
    """Return the content of a listed file; BundleError where its sha256 is not the expected one."""
    require_file(folder, name)
    path = folder / name
    content = read_file(path, LARGEST[name], BundleError)
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise BundleError(
            f"{path}: expected sha256 {str(expected)[:12]}…, found {found[:12]}…; "
            "the file is truncated or altered, copy the bundle again"
        )
    return content
