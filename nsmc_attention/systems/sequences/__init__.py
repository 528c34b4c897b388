"""Shared by the systems: characters, search and alignment of texts, batches of sequences of similar length."""

# Numbers of a source's character: itself, its initial, vowel and final, and whether a space follows
ROWS = 5
