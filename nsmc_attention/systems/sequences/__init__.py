"""Shared by the systems: character vocabularies, alignment of texts, greedy and beam search."""

# Ids per source character: the character, its initial, vowel and final, and whether a space follows
ROWS = 5
