"""Share of correct texts that `restore` changes, by kind; right.tsv refers to raw star reviews.

    NSMC_ATTENTION_DATA=... python -m benchmarks.restoration.right [--changed] [BUNDLE]

The reviews were drawn by pattern: they have signs, numerals, Latin letters, laughter, titles, addresses, names, counters, masked
words or slang, are 6 to 45 characters long and have a space for every seven. Each half was read whole by one reader; errors
were corrected by hand (`edits`: start:end:text of the review, from the left), and a space was added after marks that end a
sentence. No review is in the official test file. --changed prints the changes. The last line is for the original texts of
reviews with errors: how many are corrected exactly, left as typed, or changed otherwise.
"""

import argparse
from collections import Counter
from pathlib import Path

from nsmc_attention.corpora import nsmc, raw
from nsmc_attention.machine.files import read_rows
from nsmc_attention.systems.restore.restorer import load_restorer
from nsmc_attention.text.encoding import clean

RIGHT = Path(__file__).parent / "right.tsv"


def corrected(text: str, edits: str) -> str:
    """Return a text with edits made: `start:end:text`, several with a bar between."""
    for edit in reversed(edits.split("|") if edits else []):
        start, end, new = edit.split(":", 2)
        text = text[: int(start)] + new + text[int(end) :]
    return text


def right_texts() -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Return the reviews of each (half, kind): as it was typed, and corrected."""
    frame = raw.load(raw.find(None), [nsmc.load("nsmc", "test").frame]).frame
    texts = dict(zip(map(str, frame["id"]), frame["document"]))
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for row in read_rows(RIGHT):
        typed = clean(texts[row["id"]])
        found.setdefault((row["half"], row["kind"]), []).append((typed, corrected(typed, row["edits"])))
    return found


def main(bundle: str | None, shown: bool) -> None:
    restorer, counts = load_restorer(bundle), Counter[tuple[str, str, bool]]()
    wrong = {half: Counter[str]() for half in ("dev", "test")}
    for (half, kind), pairs in right_texts().items():
        for (typed, text), restored in zip(pairs, restorer.restore_many([text for _, text in pairs])):
            counts[half, kind, restored.text != text] += 1
            counts[half, "all", restored.text != text] += 1
            if shown and restored.text != text:
                print(f"{half}, {kind}: {text} -> {restored.text}")
            if typed != text:
                found = restorer(typed).text
                wrong[half]["exactly" if found == text else "left as typed" if found == typed else "otherwise"] += 1
    print("| kind | dev: texts | changed | test: texts | changed |\n|---|---|---|---|---|")
    for kind in [*sorted({kind for _, kind, _ in counts} - {"all"}), "all"]:
        cells = [kind]
        for half in ("dev", "test"):
            changed, whole = counts[half, kind, True], counts[half, kind, True] + counts[half, kind, False]
            cells += [str(whole), f"{changed} ({100 * changed / max(1, whole):.1f} %)"]
        print("| " + " | ".join(cells) + " |")
    print("\nreviews with errors, as typed: " + "; ".join(f"{half} {dict(counts)}" for half, counts in wrong.items()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("bundle", nargs="?")
    parser.add_argument("--changed", action="store_true")
    arguments = parser.parse_args()
    main(arguments.bundle, arguments.changed)
