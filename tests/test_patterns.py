"""No pattern and no function that reads strangers' text takes more than linear time, whatever is repeated in it."""

import ast
import functools
import importlib
import inspect
import re
from collections import defaultdict
from pathlib import Path
from time import process_time

import pytest

import nsmc_attention
from nsmc_attention.corpora import labels, stars
from nsmc_attention.machine.messages import korean
from nsmc_attention.systems.restore import as_typed, restoration
from nsmc_attention.tables import columns
from nsmc_attention.text import encoding

FOLDER = Path(nsmc_attention.__file__).parent
METHODS = {"fullmatch", "match", "search", "sub", "findall", "finditer", "split"}
COMMON = [*' 1@(가ㅋ\na.-,/<"&', *"1 _1._1,_a@_a._a-_가 _ㅋ _ \n_([_@._&a_; _: _://".split("_")]
# Behind what is repeated, which alone would match many a pattern at once
TAIL = "\0"
# Characters, and seconds below which nothing is compared; a cubic pattern takes longer with the first already
SIZES, SECONDS = (500, 8000), 0.05


def used_methods(path):
    """Return {name: methods called on it} of a module, "" for those of its local names; and (pattern, method) of re.sub and so on."""
    methods, inline = defaultdict(set), set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            owner = node.value.func if isinstance(node.value, ast.Call) else node.value
            if isinstance(owner, ast.Name) and owner.id != "re":
                methods[owner.id].add(node.attr)
                # `split` of a local name is that of a text
                methods[""].update({node.attr} - {"split"} if owner.id.islower() else ())
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.") and node.func.attr in METHODS:
            inline.update([(node.args[0].value, node.func.attr)] if isinstance(node.args[0], ast.Constant) else ())
    return methods, inline


def within(value, depth=4):
    """Yield the patterns of a value, of containers and classes, and of what functions without parameters keep."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, functools._lru_cache_wrapper):
        if "Pattern" in str(inspect.signature(value)) and not inspect.signature(value).parameters:
            yield from within(value())
    elif isinstance(value, (list, tuple, set, frozenset, dict)) or inspect.isclass(value):
        values = vars(value) if inspect.isclass(value) else value
        for each in (values.values() if hasattr(values, "values") else values) if depth else ():
            yield from within(each, depth - 1)


def patterns():
    """Return {(pattern, method): where} of the package."""
    paths = {path.relative_to(FOLDER).as_posix(): path for path in FOLDER.rglob("[!_]*.py")}
    used = {where: used_methods(path) for where, path in paths.items()}
    found = {each: where for where, (_, inline) in used.items() for each in inline}
    for where in paths:
        try:
            module = importlib.import_module("nsmc_attention." + where[: -len(".py")].replace("/", "."))
        except ImportError:  # of an extra that is not installed
            continue
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern) or getattr(value, "__module__", module.__name__) == module.__name__:
                # an imported pattern is used here, too
                known = used[where][0].get(name) or used[where][0][""] or {"search", "sub"}
                found.update({(pattern, method): where for pattern in within(value) for method in known})
    return found


def units(pattern):
    """Return the units to repeat: characters of a pattern, alone and by two."""
    text = pattern.decode() if isinstance(pattern, bytes) else pattern
    own = list(dict.fromkeys(re.sub(r"\\[A-Za-z]|\(\?P?[:=!<]*", "", text)))
    own = own[:: len(own) // 10 + 1]
    return [*dict.fromkeys([*COMMON, *own, *map("".join, zip(own, own[1:]))])]


def seconds(use, text, times=1):
    def once():
        start = process_time()
        use(text)
        return process_time() - start

    return min(once() for _ in range(times))


def is_slow(use, repeated):
    """Return whether four times the text takes more than nine times as long, of one size and of twice that."""
    size = next((size for size in SIZES if seconds(use, repeated(size)) > SECONDS), None)
    return size is not None and all(
        seconds(use, repeated(size * more), 3) > max(SECONDS, 9 * seconds(use, repeated(size * more // 4), 3))
        for more in (1, 2)
    )


def use_of(pattern, method):
    pattern = re.compile(pattern)
    if method == "sub":
        return functools.partial(pattern.sub, pattern.pattern[:0])
    use = getattr(pattern, method)
    return (lambda text: list(use(text))) if method == "finditer" else use


def repeats(unit, pattern):
    """Return a function that repeats a unit up to so many characters, as bytes for a pattern of bytes."""
    whole = str.encode if isinstance(pattern, bytes) else str
    return lambda size: whole(unit * (size // len(unit)) + TAIL)


def test_no_pattern_takes_quadratic_time():
    slow, found = [], patterns()
    assert len(found) > 200
    for (pattern, method), where in found.items():
        text, use = getattr(pattern, "pattern", pattern), use_of(pattern, method)
        slow += [(where, text[:100], method, unit) for unit in units(text) if is_slow(use, repeats(unit, text))][:1]
    assert not slow


def test_a_pattern_of_quadratic_time_is_found():
    pattern = "[.!?~]+ "
    assert any(is_slow(use_of(pattern, "findall"), repeats(unit, pattern)) for unit in units(pattern))


READERS = [columns.normalized, columns.is_value, columns.is_sentence, columns.ends_known]
READERS += [stars.plain_name, stars.scale_of_name, stars.star, stars.is_blank, labels.plain_label, labels.side_of]
READERS += [encoding.clean, korean, as_typed.read_as, as_typed.is_telling]
READERS += [
    lambda text: columns.known_in(text, columns.NAMED),
    lambda text: [pattern.findall(text) for _, pattern in as_typed.rules()],
    lambda text: as_typed.keeps_foreign(text, text),
    lambda text: list(restoration.pieces_of(text, 64)),
]


@pytest.mark.parametrize("use", READERS, ids=range(len(READERS)))
def test_functions_take_64_kb_in_less_than_a_second(use):
    for unit in COMMON:
        text = unit * (2**16 // len(unit.encode()))
        assert seconds(use, text) < 1 or seconds(use, text) < 1, unit
