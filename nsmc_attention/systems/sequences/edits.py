"""The edits between two sequences of characters, Levenshtein 1966."""


def edit_costs(source: str, target: str, put_in: int = 1) -> list[list[int]]:
    """Return the edits that turn the first i characters of the source into the first j of the target, [i][j].

    To put a character in counts as `put_in` edits.
    """
    costs = [[put_in * j for j in range(len(target) + 1)]]
    for i, one in enumerate(source, 1):
        before, row = costs[-1], [i]
        for j, other in enumerate(target, 1):
            row.append(min(before[j] + 1, row[-1] + put_in, before[j - 1] + (one != other)))
        costs.append(row)
    return costs


def edit_distance(source: str, target: str) -> int:
    """Return the fewest characters to put in, leave out or replace."""
    return edit_costs(source, target)[-1][-1]
