"""Shared by `restore` and `read`: characters, search, alignment, and decoders of sequence-to-sequence networks."""
