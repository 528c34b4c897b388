"""Tags of the characters of a source, turned into a text; and the largest distance between the two."""

from collections.abc import Iterable, Sequence

from ..sequences.characters import DELETE, END, KEEP, SPACE, UNKNOWN, Characters, aligned, edit_distance, split_spaces

# Share of the source's characters that may change, and how many always may
CHANGED, ALWAYS = 0.4, 2


def tags_of(source: str, target: str, characters: Characters) -> tuple[list[int], list[bool]]:
    """Return for each character of a source without its spaces its tag, and whether a space follows it in the target.

    A tag is KEEP, DELETE, or the id of another character. What is put in, or cannot be written, is left as it is.
    """
    letters, _ = split_spaces(source)
    wanted, follows = split_spaces(target)
    tags, spaces = [], [False] * len(letters)
    # no noise leaves a character out: with enough in the source, each of the target has one
    for place, other in aligned(letters, wanted, left_out=len(letters) + len(wanted) + 1):
        known = other >= 0 and wanted[other] != letters[place] and wanted[other] in characters.ids
        tags.append(DELETE if other < 0 else characters.ids[wanted[other]] if known else KEEP)
        if other >= 0:
            spaces[place] = follows[other]
    return tags, spaces


def tagged(letters: str, tags: Sequence[int], spaces: Sequence[bool], characters: Characters) -> tuple[str, list[int]]:
    """Return the text that tags make of the characters of a source without its spaces, the inverse of `tags_of`.

    Also the place among these of what each character of the text was made of. The space after a character that is left
    out is set all the same, never two. A character that no network can read is kept, whatever its tag.
    """
    # what each character becomes, with the space behind it
    units = [letter + SPACE if space else letter for letter, space in zip(letters, spaces)]
    for place, (letter, tag) in enumerate(zip(letters, tags)):
        if tag != KEEP and characters.can_read(letter):
            if tag > END:
                units[place] = characters.character(tag) + units[place][1:]
            elif tag == DELETE:
                before = next(filter(None, reversed(units[:place])), SPACE)
                units[place] = "" if before.endswith(SPACE) else units[place][1:]
    text = "".join(units).rstrip()
    return text, [place for place, unit in enumerate(units) for _ in unit][: len(text)]


def written(ids: Iterable[int], places: Iterable[int], letters: str, characters: Characters) -> tuple[str, list[int]]:
    """Return the text that a writer's ids up to END say, and which of the ids each of its characters is.

    An unknown character is the one of the source that was attended to most: `places` are those of the attended
    characters in `letters`, the source without its spaces. No space begins or ends the text, or follows another.
    """
    kept, steps = list[str](), list[int]()
    for step, (number, place) in enumerate(zip(ids, places)):
        if number == END:
            break
        if number > END:
            character = characters.character(number)
        elif number == UNKNOWN and place < len(letters):
            character = letters[place]
        else:
            continue
        if character != SPACE or kept and kept[-1] != SPACE:
            kept.append(character)
            steps.append(step)
    text = "".join(kept).rstrip()
    return text, steps[: len(text)]


def most_changed(letters: str) -> float:
    """Return how many of the characters of a source without its spaces may be put in, left out or replaced."""
    return ALWAYS + CHANGED * len(letters)


def within_bound(source: str, text: str) -> bool:
    """Return whether a text can be what the source was meant to be, by its characters without the spaces."""
    one, other = (side.replace(SPACE, "") for side in (source, text))
    most = most_changed(one)
    return abs(len(one) - len(other)) <= most and edit_distance(one, other) <= most


def character_error(restored: str, target: str) -> float:
    """Return the edits that turn a text into the right one, divided by the characters of that, spaces included."""
    return edit_distance(restored, target) / max(1, len(target)) if restored != target else 0.0
