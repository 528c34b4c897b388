"""`read`: recognizes the lines of text in a picture."""
