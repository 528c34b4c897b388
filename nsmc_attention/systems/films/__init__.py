"""`film`: predicts a film's mean rating from its reviews."""

COMMANDS = ("film",)
NAMES = {"rater": "film load_film FilmRater", "rating": "Rating"}
