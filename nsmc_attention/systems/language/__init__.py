"""`fill`: a language model guesses hidden words."""
