"""`restore`: corrects spacing and spelling, by an editor or a writer."""

COMMANDS = ("restore",)
OPTIONS = ("ScoringOptions", "ServeOptions", "TrainOptions")
NAMES = {
    "restorer": "restore load_restorer Restorer restore_column",
    "restoration": "Restoration",
    "pictures": "save_restoration",
}
