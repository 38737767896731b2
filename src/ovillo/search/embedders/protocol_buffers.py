"""Protocol buffers, as much of them as rewriting a model needs: fields of a message by number, and writing some.

Knows no message; what the numbers of fields mean is told by who asks (``model_graph`` for ONNX).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

#: Wire types, and the sizes of those with a fixed length.
NUMBER, BYTES = 0, 2
_FIXED = {1: 8, 5: 4}


class Field(NamedTuple):
    number: int
    wire: int
    #: 0 unless it is a number.
    value: int
    #: Offsets of the field's key, of its content, and of the end of both.
    at: int
    begin: int
    end: int


def fields(data: memoryview, at: int, end: int) -> Iterator[Field]:
    """The fields of the message between these offsets, in the order of the file."""
    while at < end:
        key, begin = _read_number(data, at)
        number, wire, value = key >> 3, key & 7, 0
        if wire == NUMBER:
            value, after = _read_number(data, begin)
        elif wire == BYTES:
            length, begin = _read_number(data, begin)
            after = begin + length
        else:
            after = begin + _FIXED[wire]
        yield Field(number, wire, value, at, begin, after)
        at = after


def texts(data: memoryview, message: Field, number: int) -> list[str]:
    """The texts that a message has under this number."""
    found = (each for each in fields(data, message.begin, message.end) if each.number == number)
    return [str(data[each.begin : each.end], "utf-8") for each in found]


def copied(data: memoryview, field: Field) -> bytes:
    """The field as it stands, its key included."""
    return bytes(data[field.at : field.end])


def written(number: int, content: bytes | str | int) -> bytes:
    """A field with this content; numbers must not be negative."""
    if isinstance(content, int):
        return _number(number << 3 | NUMBER) + _number(content)
    if isinstance(content, str):
        content = content.encode()
    return _number(number << 3 | BYTES) + _number(len(content)) + content


def _read_number(data: memoryview, at: int) -> tuple[int, int]:
    """Seven bits per byte, lowest first."""
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
        shift += 7


def _number(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)
