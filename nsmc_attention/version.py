"""The version of the package, in a file that setup.cfg can read without importing anything."""

__version__ = "0.3.0"
