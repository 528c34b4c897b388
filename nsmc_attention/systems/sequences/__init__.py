"""What two systems share: characters, search, alignment, and the decoders of sequence-to-sequence networks."""
