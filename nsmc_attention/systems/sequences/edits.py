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


def aligned(source: str, target: str, left_out: int = 1) -> list[tuple[int, int]]:
    """Return pairs of places of two texts without spaces, (source, target), by the fewest edits.

    Levenshtein 1966. A place of the source that was put in has -1 as its target; a place of the target that is not in
    the source is in no pair, and costs `left_out` edits. Texts of the same length are taken to be changed in place.
    """
    if len(source) == len(target):
        return [(place, place) for place in range(len(source))]
    costs = edit_costs(source, target, left_out)
    pairs, i, j = [], len(source), len(target)
    while i:
        if j and costs[i][j] == costs[i - 1][j - 1] + (source[i - 1] != target[j - 1]):
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif costs[i][j] == costs[i - 1][j] + 1:
            i -= 1
            pairs.append((i, -1))
        else:
            j -= 1
    return pairs[::-1]
