"""`aspects`: what reviews praise and what they blame: acting, story, direction, music, ..."""

COMMANDS = ()
OPTIONS = ("ColumnOptions", "ReportOptions")
NAMES = {"aspects": "aspects Aspect"}
