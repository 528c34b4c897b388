"""`fill`: a language model guesses hidden words."""

COMMANDS = ("fill",)
OPTIONS = ("ServeOptions", "TrainOptions")
NAMES = {"model": "fill load_language_model LanguageModel Candidate Filling"}
