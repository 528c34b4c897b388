"""Mutations of files, determined by a seed: truncated, with flipped bytes, stretched, of other types."""

import copy
import json
import random
import struct

STRANGE = [None, True, -1, 0, 1.5, 2**31, 2**70, 1e308, float("nan"), float("inf"), "", "x" * 70000, "\ud800"]
STRANGE += ["../../etc/passwd", "/etc/passwd", "=cmd|'/C calc'!A0", "<script>alert(1)</script>", "a\nb\x1b[2J"]
STRANGE += [[], {}, [[]], {"a": 1}, ["x"], "okt", "float32"]
NUMBERS = [0, 1, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**63, 2**64 - 1]


def mutated(content, draw):
    """Return bytes made from `content` by one to three changes that `draw` (random.Random) decides."""
    changes = [truncated, flipped, flipped, flipped, overwritten, numbered, numbered, cut_out, doubled]
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        content = draw.choice(changes)(content, draw)
    return content


def place(content, draw):
    """Return a place: half of them among the first or last bytes, where formats keep their counts."""
    size = len(content)
    edge = draw.choice([draw.randrange(min(size, 200) or 1), size - 1 - draw.randrange(min(size, 200) or 1)])
    return max(0, draw.choice([edge, draw.randrange(size or 1)]))


def truncated(content, draw):
    return content[: place(content, draw)]


def flipped(content, draw):
    changed = bytearray(content)
    for _ in range(draw.choice([1, 1, 2, 8])):
        if changed:
            changed[place(content, draw)] ^= 1 << draw.randrange(8)
    return bytes(changed)


def overwritten(content, draw):
    at, size = place(content, draw), draw.choice([1, 2, 4, 8, 64])
    return content[:at] + draw.choice([b"\0", b"\xff", b"\x7f", b'"', b"["]) * size + content[at + size :]


def numbered(content, draw):
    """Put a number in place of 4 or 8 bytes, on a boundary as counts and sizes stand."""
    layout = draw.choice(["<I", "<Q"])
    size = struct.calcsize(layout)
    at = place(content, draw) // 4 * 4
    return content[:at] + struct.pack(layout, draw.choice(NUMBERS) % 2 ** (8 * size)) + content[at + size :]


def cut_out(content, draw):
    at = place(content, draw)
    return content[:at] + content[at + draw.choice([1, 4, 8, 100, 5000]) :]


def doubled(content, draw):
    at, size = place(content, draw), draw.choice([1, 8, 100, 5000])
    return content[: at + size] + content[at : at + size] * draw.choice([1, 1, 50]) + content[at + size :]


def deep(levels):
    return "[" * levels + "]" * levels


def mutated_json(content, draw):
    """Return JSON in which a value, somewhere, is another, or is gone, or has a stranger's name."""
    if draw.random() < 0.05:
        return deep(draw.choice([90, 300, 990, 100000])).encode()
    root = copy.deepcopy(json.loads(content))
    for _ in range(draw.choice([1, 1, 2])):
        node, key = root, None
        while isinstance(node, (dict, list)) and node and (key is None or draw.random() < 0.75):
            parent, key = node, draw.choice(list(node) if isinstance(node, dict) else range(len(node)))
            node = parent[key]
        if key is None:
            return json.dumps(draw.choice(STRANGE)).encode()
        change = draw.random()
        if change < 0.7:
            parent[key] = draw.choice(STRANGE)
        elif change < 0.85:
            del parent[key]
        elif isinstance(parent, dict):
            parent[draw.choice([each for each in STRANGE if isinstance(each, str)])] = parent.pop(key)
    return json.dumps(root, ensure_ascii=draw.random() < 0.5).encode("utf-8", "surrogatepass")


def generator(seed):
    return random.Random(seed)
