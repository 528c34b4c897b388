"""`fill`: a language model guesses hidden words."""

COMMANDS = ("fill",)
NAMES = {"model": "fill load_language_model LanguageModel Candidate Filling"}
