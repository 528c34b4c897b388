"""`read`: reads the lines of text in a picture."""
