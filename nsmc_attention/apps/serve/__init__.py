"""The page and the HTTP API; importing it needs the extra `serve`."""

from importlib.util import find_spec

NEEDED = "fastapi fastapi_offline prometheus_client python_multipart uvicorn".split()
if MISSING := [name for name in NEEDED if not find_spec(name)]:
    from ...errors import MissingPackage

    raise MissingPackage("serve", *MISSING)
