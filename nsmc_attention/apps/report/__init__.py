"""`report`: one page about the reviews of a table."""
