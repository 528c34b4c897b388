"""`film`: predicts a film's mean rating from its reviews."""

COMMANDS = ("film",)
OPTIONS = ("GroupOptions", "ServeOptions", "TrainOptions")
NAMES = {"rater": "film load_film FilmRater", "rating": "Rating"}
