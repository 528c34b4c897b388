"""The page and the HTTP API; importing it needs the extra `serve`."""

from importlib.util import find_spec

MISSING = [
    name
    for name in ("fastapi", "fastapi_offline", "prometheus_client", "python_multipart", "uvicorn")
    if not find_spec(name)
]
if MISSING:
    from ..errors import MissingPackage

    raise MissingPackage("serve", *MISSING)
