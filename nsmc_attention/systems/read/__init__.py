"""`read`: reads the lines of text in a picture."""

COMMANDS = ("read",)
OPTIONS = ("ServeOptions", "TrainOptions")
NAMES = {"reader": "read load_reader PictureReader", "reading": "Reading Line", "pictures": "save_reading"}
