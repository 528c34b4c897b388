"""A trained model as a folder of plain files: written whole or not at all, each verified before it is used.

    manifest.json   schema, task, versions, labels, config, data, metrics, sha256 of every other file
    vocab.json      what stands between texts and numbers; a task's Layout says how it is called and read
    weights.params  Gluon parameters
    model.onnx      the same function for ONNX Runtime, whose large numbers are those of weights.params; of some networks,
                    several graphs, which the Layout names
    README.md       model card

A sha256 proves that a copy is whole, not who made it: the readers of the files check their contents.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Optional, Protocol, TypeVar, Union

from .._io.atomic import replaced_folder
from .._io.bounded import bounded_size, read_file, read_json
from ..errors import BundleError, ConfigError, WrongTask, list_names

if TYPE_CHECKING:
    from ..training.config import TaskConfig

SCHEMA = 4
MANIFEST, PARAMETERS, CARD = "manifest.json", "weights.params", "README.md"
# In the manifest: {graph: sha256 of the whole one}, of those whose files leave numbers out
WHOLE = "whole"
# Bytes that a file may have; as JSON, a vocabulary of 16,000 has 0.6 MB
LARGEST_MANIFEST, LARGEST_CARD, LARGEST_CODEC, LARGEST_NETWORK = 2**20, 2**20, 2**25, 2**30
PACKAGE = Path(__file__).parent.parent

Manifest = dict[str, Any]
ConfigT = TypeVar("ConfigT", bound="TaskConfig", covariant=True)
CodecT = TypeVar("CodecT", bound="Codec", covariant=True)


class Codec(Protocol):
    """The codec between texts and a network's numbers: a vocabulary, or a scale."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """The arguments of a config's `network`."""


@dataclass(frozen=True)
class Layout(Generic[ConfigT, CodecT]):
    """The files of a bundle of one task, and how they are read.

    Attributes
    ----------
    config : type
        The settings of its trainings, which name the task.
    codec : str
        The file of the codec, which `read_codec` reads: (content, path, manifest, config) -> codec, or BundleError.
    graphs : tuple of str
        The ONNX graphs that it may have.
    packaged : tuple of Path
        The bundles that came with the package, the default one first.
    card : callable
        What the model card says beside the manifest: (config, manifest) -> {name: value}.
    named : bool
        Whether manifests name the task; False for the one that was there before the others.
    migrated : callable
        Brings the manifest of an earlier schema to today's.
    """

    config: type[ConfigT]
    codec: str
    read_codec: Callable[[bytes, Path, Manifest, Any], CodecT]
    graphs: tuple[str, ...]
    packaged: tuple[Path, ...]
    card: Callable[[Any, Manifest], Mapping[str, object]]
    named: bool = True
    migrated: Callable[[Manifest], Manifest] = dict

    @property
    def task(self) -> str:
        return self.config.task

    @property
    def limits(self) -> Mapping[str, int]:
        """{file: the most bytes it may have}, of every file but the manifest."""
        networks = dict.fromkeys((PARAMETERS, *self.graphs), LARGEST_NETWORK)
        return {self.codec: LARGEST_CODEC, **networks, CARD: LARGEST_CARD}


@dataclass(frozen=True)
class Bundle(Generic[ConfigT, CodecT]):
    """A bundle whose files are verified when they are read."""

    folder: Path
    layout: Layout[ConfigT, CodecT]
    manifest: Manifest
    config: ConfigT
    codec: CodecT

    @property
    def name(self) -> str:
        """Name in results: "pretrained" or the folder's last two names, never a whole path."""
        return self.folder.name if self.packaged else "/".join(self.folder.resolve().parts[-2:])

    @property
    def packaged(self) -> bool:
        """True if it came with the package and is trusted like its code."""
        return self.folder in self.layout.packaged

    @property
    def fingerprint(self) -> str:
        """SHA-256 over file hashes, of graphs those of the whole ones, and config; equal fingerprints, equal predictions."""
        parts = [{**self.manifest["files"], **self.manifest.get(WHOLE, {})}, self.manifest["config"]]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    @property
    def graphs(self) -> tuple[str, ...]:
        """The ONNX graphs that it has."""
        return tuple(name for name in self.layout.graphs if name in self.manifest["files"])

    def read(self, name: str) -> bytes:
        """Return the content of one file, a graph whole; BundleError if it was altered, or this bundle has none."""
        content = self.stored(name)
        if (expected := self.manifest.get(WHOLE, {}).get(name)) is None:
            return content
        from ..model.graph_files import with_numbers
        from ..model.parameters import parsed

        try:
            whole = with_numbers(content, parsed(self.stored(PARAMETERS)))
        except (ValueError, LookupError) as problem:
            raise BundleError(
                f"{self.file(name)}: does not fit {PARAMETERS}: {problem}; copy the bundle again"
            ) from problem
        return same(whole, self.file(name), expected)

    def stored(self, name: str) -> bytes:
        """Return the bytes of one file; BundleError if it was altered, or this bundle has none."""
        return verified(self.file(name), self.layout.limits[name], self.manifest["files"][name])

    def file(self, name: str) -> Path:
        """Return the path of one file; BundleError if this bundle has none."""
        if name not in self.manifest["files"]:
            raise BundleError(
                f"{self.folder}: has no {name}; write it with `nsmc-attention export --bundle "
                f"{self.folder}`, or use --engine gluon"
            )
        return self.folder / name


AnyBundle = Bundle[Any, Any]


def packaged(*names: str) -> tuple[Path, ...]:
    """Return the folders of bundles that came with the package."""
    return tuple(PACKAGE / name for name in names)


def write_bundle(folder: Union[str, Path], manifest: Manifest, contents: dict[str, bytes]) -> None:
    """Write a bundle as `folder`, replacing the one that was there in one move.

    `contents` is {file name: bytes}, at least of the files that its layout requires; `files` and `schema` are added to the
    manifest here.
    """
    others, whole = without_numbers_twice({name: contents[name] for name in sorted(contents) if name != MANIFEST})
    files = {name: sha256(content) for name, content in others.items()}
    # a graph that was read as it is stored is whole nowhere here
    before = manifest.get("files", {})
    known = {name: each for name, each in manifest.get(WHOLE, {}).items() if files.get(name) == before.get(name)}
    whole = {**known, **whole}
    values = {name: value for name, value in manifest.items() if name != WHOLE}
    values = {"schema": SCHEMA, **values, "files": files, **({WHOLE: whole} if whole else {})}
    text = json.dumps(values, ensure_ascii=False, indent=2) + "\n"
    write_contents(folder, {**others, MANIFEST: text.encode(errors="replace")})


def without_numbers_twice(contents: dict[str, bytes]) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the contents without the numbers in graphs that are in PARAMETERS too, and the sha256 of each such graph."""
    graphs = [name for name in contents if name.endswith(".onnx")]
    if not graphs:
        return contents, {}
    from ..model.graph_files import without_numbers
    from ..model.parameters import parsed

    others, whole = dict(contents), dict[str, str]()
    for name in graphs:
        try:
            others[name] = without_numbers(contents[name], parsed(contents[PARAMETERS]))
        except ValueError:
            # another program's file, which its readers refuse
            continue
        if others[name] != contents[name]:
            whole[name] = sha256(contents[name])
    return others, whole


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write_contents(folder: Union[str, Path], contents: dict[str, bytes]) -> None:
    """Write a bundle from all its files as they are."""
    with replaced_folder(folder) as temporary:
        for name, content in contents.items():
            (temporary / name).write_bytes(content)


def read_contents(bundle: Bundle[Any, Any]) -> dict[str, bytes]:
    """Return {file name: bytes} of every file as it is stored, the manifest among them."""
    contents = {name: bundle.stored(name) for name in bundle.manifest["files"]}
    return {**contents, MANIFEST: (bundle.folder / MANIFEST).read_bytes()}


def load_bundle(folder: Optional[Union[str, Path]], layout: Layout[ConfigT, CodecT]) -> Bundle[ConfigT, CodecT]:
    """Return a bundle of a layout's task; of a run folder, its bundle; without a folder, the packaged one.

    BundleError where it is of another task or schema, a file is missing, foreign, a link or too large, the codec was
    altered, or does not fit what is installed. The other files, of which an engine needs one, are verified when they are
    read.
    """
    return load_any(folder, (layout,))


def load_any(folder: Optional[Union[str, Path]], layouts: Sequence[Layout[Any, Any]]) -> Bundle[Any, Any]:
    """Return a bundle of one of several tasks, as `load_bundle` does."""
    folder = Path(folder) if folder else layouts[0].packaged[0]
    if not (folder / MANIFEST).exists() and (folder / "bundle" / MANIFEST).is_file():
        folder = folder / "bundle"
    manifest = read_manifest(folder)
    layout = layout_of(manifest, layouts, folder)
    manifest = check_manifest(manifest, layout, folder / MANIFEST)
    for name in manifest["files"]:
        require_file(folder / name)
        bounded_size(folder / name, layout.limits[name], BundleError)
    if foreign := sorted({path.name for path in folder.iterdir()} - {MANIFEST, *manifest["files"]}):
        raise BundleError(f"{folder}: holds a foreign file {foreign[0][:60]!r}, not in its manifest; remove it")
    try:
        config = layout.config.from_dict(manifest.get("config"))
    except (ConfigError, TypeError) as problem:
        raise BundleError(f"{folder / MANIFEST}: {problem}") from problem
    path = folder / layout.codec
    content = verified(path, LARGEST_CODEC, manifest["files"][layout.codec])
    return Bundle(folder, layout, manifest, config, layout.read_codec(content, path, manifest, config))


def read_manifest(folder: Path) -> Manifest:
    if not folder.is_dir():
        raise BundleError(f"{folder}: no such bundle folder; make one with `nsmc-attention train`")
    path = folder / MANIFEST
    if (folder / "settings.json").is_file():
        raise BundleError(f"{folder}: a run whose training has not ended; continue it with train --resume")
    if not path.is_file():
        raise BundleError(f"{folder} has no manifest.json (found {names_in(folder)}); is it a run's folder `bundle`?")
    manifest = read_json(read_file(path, LARGEST_MANIFEST, BundleError), path, BundleError, "a bundle's manifest")
    parts = (manifest.get("files"), manifest.get("metrics")) if isinstance(manifest, dict) else ()
    if not parts or not all(isinstance(part, dict) for part in parts) or "schema" not in manifest:
        raise no_manifest(path)
    return dict(manifest)


def no_manifest(path: Path) -> BundleError:
    return BundleError(f"{path}: expected a bundle's manifest, found something else; was it altered?")


def layout_of(manifest: Manifest, layouts: Sequence[Layout[Any, Any]], folder: Path) -> Layout[Any, Any]:
    """Return the layout of the manifest's task; WrongTask where it is none of these."""
    task = manifest.get("task")
    for layout in layouts:
        if task == layout.task or "task" not in manifest and not layout.named:
            return layout
    raise WrongTask(folder, [layout.task for layout in layouts], None if task is None else str(task))


def check_manifest(manifest: Manifest, layout: Layout[Any, Any], path: Path) -> Manifest:
    """Return the manifest in today's schema; BundleError if it is of another one, or lists other files."""
    if not all(isinstance(figures, dict) for figures in manifest["metrics"].values()):
        raise no_manifest(path)
    try:
        manifest = layout.migrated(manifest)
    except (KeyError, TypeError, AttributeError, ConfigError) as problem:
        raise no_manifest(path) from problem
    if manifest["schema"] != SCHEMA:
        raise BundleError(
            f"{path}: expected schema {SCHEMA}, found {str(manifest['schema'])[:20]}; "
            "this bundle needs another version of nsmc_attention"
        )
    if foreign := sorted(set(manifest["files"]) - set(layout.limits)):
        raise BundleError(f"{path}: lists a foreign file {foreign[0][:60]!r}")
    if missing := [name for name in (layout.codec, PARAMETERS) if name not in manifest["files"]]:
        raise BundleError(f"{path}: does not list {missing[0]}; was the training interrupted?")
    whole = manifest.get(WHOLE, {})
    if not isinstance(whole, dict) or not set(whole) <= set(layout.graphs) & set(manifest["files"]):
        raise no_manifest(path)
    return manifest


def names_in(folder: Path) -> str:
    return list_names(sorted(file.name for file in folder.iterdir()))


def require_file(path: Path) -> None:
    if not path.is_file():
        raise BundleError(f"{path.parent} has no {path.name} (found {names_in(path.parent)}); was a copy interrupted?")


def verified(path: Path, largest: int, expected: object) -> bytes:
    """Return the content of a named file; BundleError where its sha256 is not the expected one."""
    require_file(path)
    return same(read_file(path, largest, BundleError), path, expected)


def same(content: bytes, path: Path, expected: object) -> bytes:
    """Return the content of a file; BundleError where its sha256 is not the expected one."""
    digest = sha256(content)
    if digest != expected:
        raise BundleError(
            f"{path}: expected sha256 {str(expected)[:12]}…, found {digest[:12]}…; "
            "the file is truncated or altered, copy the bundle again"
        )
    return content
