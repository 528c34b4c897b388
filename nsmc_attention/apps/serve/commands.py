"""The command `serve`."""

from pathlib import Path
from typing import Optional

import click

from ...cli import options
from ...cli.declare import command, option


@command()
def serve(
    *,
    host: str = option("0.0.0.0 for every network this machine is in", default="127.0.0.1"),
    port: int = option("0 for any that is free", type=click.IntRange(0, 65535), default=8000),
    workers: int = option("processes", type=click.IntRange(1, 64), default=1),
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
    """Serve an interactive page and an HTTP API.

    \b
    nsmc-attention serve
    curl -s localhost:8000/predict -H 'Content-Type: application/json' -d '{"inputs": "정말 재미있는 영화였어요"}'
    """
    from .models import Bundles
    from .server import serve as run_server

    bundles = Bundles(bundle, engine, restore_bundle, language_bundle, film_bundle, read_bundle)
    run_server(host, port, workers=workers, bundles=bundles)
