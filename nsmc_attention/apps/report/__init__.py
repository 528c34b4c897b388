"""`report`: a page that summarizes the reviews of a table."""
