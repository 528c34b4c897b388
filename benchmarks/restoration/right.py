"""Right texts that restore is to leave alone: how many it changes, by kind. right.tsv names reviews of the official test file.

    NSMC_ATTENTION_DATA=... python -m benchmarks.restoration.right [--changed] [BUNDLE]

The reviews have signs, numerals, Latin letters, laughter, titles, addresses or slang, are 6 to 34 characters long and spaced by
their writers. Those that the editor changed when the set was made were read by people: where a review was wrong it is not in
the set, where it was right it is. --changed prints what is changed.
"""

import argparse
from collections import Counter
from pathlib import Path

from nsmc_attention._io.tab_separated import read_rows
from nsmc_attention.reviews import nsmc
from nsmc_attention.systems.restoration.restorer import load_restorer
from nsmc_attention.text.encoding import clean

RIGHT = Path(__file__).parent / "right.tsv"


def main(bundle: str | None, shown: bool) -> None:
    frame = nsmc.load("nsmc", "test").frame
    texts = dict(zip(map(str, frame["id"]), map(clean, frame["document"])))
    rows = [(row["kind"], texts[row["id"]]) for row in read_rows(RIGHT)]
    restored = load_restorer(bundle).restore_many(text for _, text in rows)
    found, changed = Counter(kind for kind, _ in rows), Counter[str]()
    for (kind, text), own in zip(rows, restored):
        if own.text != text:
            changed[kind] += 1
            if shown:
                print(f"{kind}: {text} -> {own.text}")
    print("| kind | texts | changed |\n|---|---|---|")
    for kind, count in [*found.items(), ("all", len(rows))]:
        some = changed.total() if kind == "all" else changed[kind]
        print(f"| {kind} | {count} | {some} ({100 * some / count:.1f} %) |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("bundle", nargs="?")
    parser.add_argument("--changed", action="store_true")
    arguments = parser.parse_args()
    main(arguments.bundle, arguments.changed)
