"""What a network says about the characters of a source, turned into a text; and how far the two may be apart."""

from collections.abc import Sequence

from .characters import DELETE, END, KEEP, SPACE, Characters, aligned, edit_distance, split_spaces

# Share of the source's characters that may change, and how many always may
CHANGED, ALWAYS = 0.4, 2


def tags_of(source: str, target: str, characters: Characters) -> tuple[list[int], list[bool]]:
    """Return for each character of a source without its spaces its tag, and whether a space follows it in the target.

    A tag is KEEP, DELETE, or the id of another character. What is put in, or cannot be written, is left as it is.
    """
    letters, _ = split_spaces(source)
    wanted, follows = split_spaces(target)
    tags, spaces = [], [False] * len(letters)
    for place, other in aligned(letters, wanted):
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
    written, origins = list[str](), list[int]()
    for place, (letter, tag, space) in enumerate(zip(letters, tags, spaces)):
        if not characters.can_read(letter):
            tag = KEEP
        if tag != DELETE:
            written.append(characters.character(tag) if tag > END else letter)
            origins.append(place)
        if space and written and written[-1] != SPACE:
            written.append(SPACE)
            origins.append(place)
    text = "".join(written).rstrip()
    return text, origins[: len(text)]


def within_bound(source: str, text: str) -> bool:
    """Return whether a text can be what the source was meant to be, by its characters without the spaces."""
    one, other = (each.replace(SPACE, "") for each in (source, text))
    most = ALWAYS + CHANGED * len(one)
    return abs(len(one) - len(other)) <= most and edit_distance(one, other) <= most


def character_error(restored: str, target: str) -> float:
    """Return the edits that turn a text into the right one, divided by the characters of that, spaces included."""
    return edit_distance(restored, target) / max(1, len(target)) if restored != target else 0.0
