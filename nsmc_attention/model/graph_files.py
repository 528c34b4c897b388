"""Graph files without the numbers that a bundle's parameters hold already.

    whole graph -> `without_numbers` -> its file in a bundle -> `with_numbers` -> the same bytes again

In the file, such a constant keeps its name, type and shape, but has no numbers. Both functions work on the bytes of the
ONNX file (protobuf), so they need neither onnx nor MXNet.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, Optional

import numpy

from .._runtime.aliases import Numbers

# Fields by their numbers in onnx.proto: of ModelProto, GraphProto and TensorProto
GRAPH, CONSTANT, NAME, NUMBERS = 7, 5, 8, 9
# Wire type of a field that has a length
BYTES = 2
# Fewer bytes than these stay in the graph
LEAST = 256
# ONNX orders a GRU's gates update, reset, new, and an LSTM's input, output, forget, new; MXNet and cuDNN reset, update,
# new, and input, forget, new, output
GATES = {"gru": (1, 0, 2), "lstm": (0, 3, 1, 2)}


class Field(NamedTuple):
    """A field of a message: its number, its bytes with the tag, and its content, None where it is a number."""

    number: int
    whole: bytes
    content: Optional[bytes]


def without_numbers(content: bytes, stored: Mapping[str, Numbers]) -> bytes:
    """Return a graph's file without the numbers of the constants that `numbers_of` makes of the stored parameters."""

    def emptied(constant: bytes) -> bytes:
        parts = {field.number: field.content for field in fields(constant)}
        numbers = parts.get(NUMBERS) or b""
        if len(numbers) < LEAST or numbers_of((parts[NAME] or b"").decode(), stored) != numbers:
            return constant
        return b"".join(field.whole for field in fields(constant) if field.number != NUMBERS)

    return with_constants(content, emptied)


def with_numbers(content: bytes, stored: Mapping[str, Numbers]) -> bytes:
    """Return the whole graph of a file; ValueError where the parameters have no numbers for a constant, or it is there twice."""
    names = set[str]()

    def filled(constant: bytes) -> bytes:
        parts = {field.number: field.content for field in fields(constant)}
        if NUMBERS in parts:
            return constant
        name = (parts.get(NAME) or b"").decode()
        if (numbers := None if name in names else numbers_of(name, stored)) is None:
            raise ValueError(f"a constant {name[:60]!r} without numbers")
        names.add(name)
        return constant + message(NUMBERS, numbers)

    return with_constants(content, filled)


def numbers_of(name: str, stored: Mapping[str, Numbers]) -> Optional[bytes]:
    """Return the bytes of a graph's constant, by its name, from the parameters as they are stored; None for another one.

    `NAME.T` is a parameter's transpose; `NAME.W`, `.R` and `.B` of the first weight of a recurrent layer are those of ONNX's
    GRU and LSTM: input weights, recurrent weights and both biases, of one direction or two.
    """
    base, _, kind = name.rpartition(".")
    if name in stored:
        return stored[name].tobytes()
    if kind == "T" and base in stored:
        return stored[base].T.tobytes()
    if kind not in ("W", "R", "B") or not base.endswith("i2h_weight"):
        return None
    directions = [base, base.replace("forward_", "backward_")] if "forward_" in base else [base]
    found = [of_direction(first, kind, stored) for first in directions if first in stored]
    return numpy.stack(found).tobytes() if found else None


def of_direction(first: str, kind: str, stored: Mapping[str, Numbers]) -> Numbers:
    """Return the numbers of one direction, its gates in ONNX's order."""
    suffixes = {"W": ("i2h_weight",), "R": ("h2h_weight",), "B": ("i2h_bias", "h2h_bias")}[kind]
    arrays = [stored[first.replace("i2h_weight", suffix)] for suffix in suffixes]
    rows, units = stored[first.replace("i2h_weight", "h2h_weight")].shape
    (order,) = (gates for gates in GATES.values() if len(gates) == rows // units)
    return numpy.concatenate([numpy.split(array, len(order))[gate] for array in arrays for gate in order])


def with_constants(content: bytes, changed: Callable[[bytes], bytes]) -> bytes:
    """Return an ONNX file with each constant (TensorProto) changed by a function."""
    return b"".join(
        message(
            GRAPH,
            b"".join(
                message(CONSTANT, changed(inner.content or b"")) if inner.number == CONSTANT else inner.whole
                for inner in fields(field.content or b"")
            ),
        )
        if field.number == GRAPH
        else field.whole
        for field in fields(content)
    )


def fields(content: bytes) -> Iterator[Field]:
    """Yield the fields of a message; ValueError where it is cut off, or has a field that no ONNX file needs."""
    at = 0
    while at < len(content):
        tag, after = varint(content, at)
        value, after = varint(content, after)
        if tag & 7 not in (0, BYTES):
            raise ValueError("a field of a kind that no ONNX graph has")
        end = after + value if tag & 7 == BYTES else after
        if end > len(content):
            raise ValueError("a truncated file, or no ONNX model")
        yield Field(tag >> 3, content[at:end], content[after:end] if tag & 7 == BYTES else None)
        at = end


def message(number: int, content: bytes) -> bytes:
    """Return a field that has a length, of fewer than 16 numbers."""
    return bytes([number << 3 | BYTES]) + varint_of(len(content)) + content


def varint_of(number: int) -> bytes:
    """Return a number of 7 bits a byte, the lowest first."""
    coded = bytearray()
    while number > 127:
        coded.append(number & 127 | 128)
        number >>= 7
    return bytes([*coded, number])


def varint(content: bytes, at: int) -> tuple[int, int]:
    """Return the number of `varint_of` at a place, and the byte after it."""
    number = 0
    for index, byte in enumerate(content[at : at + 10]):
        number |= (byte & 127) << 7 * index
        if byte < 128:
            return number, at + index + 1
    raise ValueError("a truncated file, or no ONNX model")
