"""Where people use the package: reports, tables of any size, a page and an HTTP API."""
