"""The command `serve`."""

from importlib.util import find_spec
from pathlib import Path
from typing import Optional

import click

from ..errors import MissingPackage
from . import options
from .declare import command, option

NEEDED = "fastapi fastapi_offline prometheus_client python_multipart uvicorn".split()


@command()
def serve(
    *,
    host: str = option("address; 0.0.0.0: every network of this machine", default="127.0.0.1"),
    port: int = option("port; 0: any free port", type=click.IntRange(0, 65535), default=8000),
    workers: int = option("number of processes", type=click.IntRange(1, 64), default=1),
    bundle: Optional[Path] = options.BUNDLE,
    engine: str = options.ENGINE,
    restore_bundle: Optional[Path] = option(
        "bundle that corrects spacing and spelling  [default: the packaged editor]"
    ),
    language_bundle: Optional[Path] = option("bundle that fills blanks  [default: the packaged language model]"),
    film_bundle: Optional[Path] = option(
        "bundle that rates films, trained with the same classifier  [default: the packaged one]"
    ),
    read_bundle: Optional[Path] = option("bundle that reads screenshots  [default: the packaged reader]"),
) -> None:
    """Run a web page and an HTTP API.

    \b
    nsmc-attention serve
    curl -s localhost:8000/predict -H 'Content-Type: application/json' -d '{"inputs": "정말 재미있는 영화였어요"}'
    """
    if missing := [name for name in NEEDED if not find_spec(name)]:
        raise MissingPackage("serve", *missing)
    from ..apps.serve.app import serve as run_server
    from ..apps.serve.service import Bundles

    bundles = Bundles(bundle, engine, restore_bundle, language_bundle, film_bundle, read_bundle)
    run_server(host, port, workers=workers, bundles=bundles)
