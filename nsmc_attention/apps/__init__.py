"""Applications: reports, tables of any size, a page and an HTTP API."""
