"""A trained model as a folder: written completely or not at all, each file verified by its sha256 when it is read.

    manifest.json      schema, task, versions, labels, config, data, metrics, sha256 of every other file
    vocab.json         the codec between texts and numbers; a task's Layout has its name and reader
    model.safetensors  the parameters by structural name
    *.onnx             the graphs for ONNX Runtime, with their parameters in model.safetensors
    README.md          model card

A sha256 proves that a copy is complete, not who made it: treat a stranger's bundle like code.
"""

import hashlib
import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Optional, TypeVar, Union

from .errors import BundleError, ConfigError, WrongTask, list_names
from .machine.files import read_json, replaced_folder

if TYPE_CHECKING:
    from .schema import TaskConfig
    from .text.encoding import ReviewEncoder

SCHEMA = 5
MANIFEST, PARAMETERS, CARD = "manifest.json", "model.safetensors", "README.md"
PACKAGE = Path(__file__).parent
# A part of the model card that is shown only if a value is true, within a line or on separate lines
OPTIONAL = re.compile(r"<!-- if (\w+) -->(\n?)(.*?)<!-- end -->\2", re.DOTALL)

Manifest = dict[str, Any]
ConfigT = TypeVar("ConfigT", bound="TaskConfig", covariant=True)
CodecT = TypeVar("CodecT", covariant=True)


@dataclass(frozen=True)
class Layout(Generic[ConfigT, CodecT]):
    """The files of a bundle of one task, and their readers.

    Attributes
    ----------
    config : type
        The settings of the task's trainings.
    codec, read_codec : str, callable
        The file of the codec between texts and a network's numbers, as a vocabulary, and its reader: (content, path,
        manifest, config) -> codec, or BundleError. `codec.sizes` are the arguments of `config.network`.
    packaged : tuple of Path
        The packaged bundles, the default one first.
    card : callable
        (config, manifest) -> {name: value}, values of the model card besides the manifest's.
    presets : mapping
        The settings of the task's trainings by name, the default first.
    """

    config: type[ConfigT]
    codec: str
    read_codec: Callable[[bytes, Path, Manifest, Any], CodecT]
    packaged: tuple[Path, ...]
    card: Callable[[Any, Manifest], Mapping[str, object]]
    presets: Mapping[str, ConfigT] = field(hash=False)

    @property
    def task(self) -> str:
        return self.config.task


@dataclass(frozen=True)
class Bundle(Generic[ConfigT, CodecT]):
    """A loaded bundle; its files are verified when they are read."""

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
        """True if it is part of the package."""
        return self.folder in self.layout.packaged

    @property
    def fingerprint(self) -> str:
        """SHA-256 of file hashes and config; bundles with equal fingerprints predict the same."""
        parts = [self.manifest["files"], self.manifest["config"]]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def file(self, name: str) -> Path:
        """Return the path of a file; BundleError if this bundle does not have it."""
        if name not in self.manifest["files"]:
            raise BundleError(
                f"{self.folder}: has no {name}; write it with `nsmc-attention export --bundle "
                f"{self.folder}`, or use --engine gluon"
            )
        return self.folder / name

    def read(self, name: str) -> bytes:
        """Return the bytes of a file; BundleError if it was altered, or this bundle does not have it."""
        return verified(self.file(name), self.manifest)

    def parameters(self) -> dict[str, Any]:
        """Return the stored parameters, {name: array}; `network.parameters.loaded` converts them."""
        from safetensors.numpy import load

        return load(self.read(PARAMETERS))


AnyBundle = Bundle[Any, Any]


def packaged(*names: str) -> tuple[Path, ...]:
    """Return the folders of packaged bundles."""
    return tuple(PACKAGE / name for name in names)


def write_bundle(folder: Union[str, Path], manifest: Manifest, contents: Mapping[str, bytes]) -> None:
    """Write a bundle as `folder`, atomically replacing an existing one.

    `contents` is {file name: bytes} of all files except the manifest, which gets `schema` and `files` here.
    """
    files = {name: sha256(contents[name]) for name in sorted(contents)}
    text = json.dumps({"schema": SCHEMA, **manifest, "files": files}, ensure_ascii=False, indent=2) + "\n"
    with replaced_folder(folder) as temporary:
        for name, content in {**contents, MANIFEST: text.encode(errors="replace")}.items():
            (temporary / name).write_bytes(content)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def read_contents(bundle: AnyBundle) -> dict[str, bytes]:
    """Return {file name: bytes} of every file but the manifest."""
    return {name: bundle.read(name) for name in bundle.manifest["files"]}


def load_bundle(folder: Optional[Union[str, Path]], layout: Layout[ConfigT, CodecT]) -> Bundle[ConfigT, CodecT]:
    """Load a bundle of a layout's task, the bundle of a run folder, or, without a folder, the packaged one.

    BundleError if it has another task or schema, a file is missing, or the codec was altered or does not fit the installed
    packages. The other files, of which an engine needs one or two, are verified when they are read.
    """
    return load_any(folder, (layout,))


def load_any(folder: Optional[Union[str, Path]], layouts: Sequence[Layout[Any, Any]]) -> AnyBundle:
    """Load a bundle of one of several tasks, as `load_bundle` does."""
    folder = Path(folder) if folder else layouts[0].packaged[0]
    if not (folder / MANIFEST).exists() and (folder / "bundle" / MANIFEST).is_file():
        folder = folder / "bundle"
    manifest, path = read_manifest(folder), folder / MANIFEST
    layout = {layout.task: layout for layout in reversed(layouts)}.get(manifest.get("task"))
    if layout is None:
        raise WrongTask(folder, [layout.task for layout in layouts], manifest.get("task"))
    for name in (layout.codec, PARAMETERS, *manifest["files"]):
        if not (folder / name).is_file():
            raise BundleError(f"{folder} has no {name} (found {names_in(folder)}); was a copy interrupted?")
    try:
        config = layout.config.from_dict(manifest.get("config"))
    except (ConfigError, TypeError) as problem:
        raise BundleError(f"{path}: {problem}") from problem
    file = folder / layout.codec
    codec = layout.read_codec(verified(file, manifest), file, manifest, config)
    return Bundle(folder, layout, manifest, config, codec)


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a bundle; BundleError if it is missing or has another schema."""
    if not folder.is_dir():
        raise BundleError(f"{folder}: no such bundle folder; make one with `nsmc-attention train`")
    path = folder / MANIFEST
    if (folder / "settings.json").is_file():
        raise BundleError(f"{folder}: a run whose training has not ended; continue it with train --resume")
    if not path.is_file():
        raise BundleError(f"{folder} has no manifest.json (found {names_in(folder)}); is it a run's folder `bundle`?")
    manifest = read_json(path.read_bytes(), path, BundleError, "a bundle's manifest")
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        raise BundleError(f"{path}: expected a bundle's manifest, found something else; was it altered?")
    if manifest.get("schema") != SCHEMA:
        raise BundleError(
            f"{path}: expected schema {SCHEMA}, found {manifest.get('schema')}; convert a bundle of release 0.2 with "
            "`python -m recipes.convert_bundle` (docs/code.md), or install the release that wrote it"
        )
    return manifest


def names_in(folder: Path) -> str:
    return list_names(sorted(file.name for file in folder.iterdir()))


def verified(path: Path, manifest: Manifest) -> bytes:
    """Return the content of a file; BundleError if its sha256 is not the manifest's."""
    content, expected = path.read_bytes(), str(manifest["files"].get(path.name))
    if (digest := sha256(content)) != expected:
        raise BundleError(
            f"{path}: expected sha256 {expected[:12]}…, found {digest[:12]}…; "
            "the file is truncated or altered, copy the bundle again"
        )
    return content


def read_encoder(content: bytes, path: Path, manifest: Manifest, config: Any) -> "ReviewEncoder":
    """Return the encoder of texts for a config with `text`; BundleError if it differs from that of the training."""
    from .text.encoding import ReviewEncoder
    from .text.tokenizers import tokenizer_version

    made_with, installed = manifest.get("tokenizer_version"), tokenizer_version(config.text.tokenizer)
    if made_with != installed:
        raise BundleError(
            f"{path.parent}: its vocabulary was made with {made_with}, found {installed}; other versions give "
            "other tokens: install the ones named first, or train again"
        )
    encoder = ReviewEncoder.from_json(content, config.text, where=path)
    check_count(encoder, path, manifest)
    return encoder


def check_count(vocabulary: Sized, path: Path, manifest: Manifest) -> None:
    """Raise BundleError unless a vocabulary has the size in the manifest."""
    if len(vocabulary) != manifest.get("vocabulary"):
        raise BundleError(f"{path}: expected a vocabulary of {manifest.get('vocabulary')}, found {len(vocabulary)}")


def model_card(layout: Layout[Any, Any], manifest: Manifest) -> str:
    """Return the card of a manifest as Markdown with YAML front matter, as model hubs read it.

    The template, `card.md` beside the settings, has fields for `str.format`, and optional parts from `<!-- if NAME -->`
    to `<!-- end -->`. Names are those of the manifest, of its data and of `Layout.card`, and `config` and `network`.
    """
    config = layout.config.from_dict(manifest["config"])
    network, template = config.model.describe(), Path(inspect.getfile(layout.config)).with_name("card.md")
    values = {**manifest, **manifest["data"], "config": config, "network": network, **layout.card(config, manifest)}
    text = OPTIONAL.sub(lambda match: match[3] if values.get(match[1]) else "", template.read_text(encoding="utf-8"))
    return text.format_map(values)


def in_yaml(name: str) -> str:
    """Return a list of one name in YAML, quoted as in JSON unless it is a plain word."""
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", name)
    return f"[{name}]" if plain else json.dumps([name], ensure_ascii=False)
