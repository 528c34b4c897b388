"""The page and the HTTP API; importing it needs the extra `serve`."""

try:
    import fastapi  # noqa: F401
    import prometheus_client  # noqa: F401
    import uvicorn  # noqa: F401
except ImportError as problem:
    from ..errors import MissingPackage

    raise MissingPackage(f"serve needs more packages ({problem}): pip install 'nsmc_attention[serve]'") from problem
