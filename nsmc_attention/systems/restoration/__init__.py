"""`restore`: corrects spacing and spelling, by an editor or a writer."""

COMMANDS = ("restore",)
OPTIONS = ("ScoringOptions", "ServeOptions", "TrainOptions")
NAMES = {
    "restorer": "restore load_restorer Restorer",
    "restoration": "Restoration",
    "columns": "restore_column",
    "pictures": "save_restoration",
}
