"""Applications: reports, bulk scoring of tables, an interactive page and an HTTP API."""
