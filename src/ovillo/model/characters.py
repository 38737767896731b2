"""Whole characters: what JSON can write and no encoding carries is put right in one way, everywhere.

JSON may hold half of a surrogate pair (programs in JavaScript write one where they cut a text). A half becomes U+FFFD, and
two halves that belong together the character they are; everything else stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

#: One escape of JSON text; the group is half a pair.
_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)
#: As much JSON text as is taken at a time: whole escapes, and up to 512 other bytes between two of them.
_PIECE = re.compile(rb"(?:\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u[0-9a-fA-F]{4}|\\.|[^\\]{1,512}){1,2048}", re.DOTALL)
#: Texts with more escapes are not mended (that takes half a second): half a pair in them is refused.
_MAX_MENDED = 2_000_000


def whole(text: str) -> str:
    """The text as it can be stored and sent."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def whole_json(value: Any) -> Any:
    """A JSON value with its texts and keys made ``whole``."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, Mapping):
        return {whole(str(key)): whole_json(item) for key, item in value.items()}
    return [whole_json(item) for item in value] if isinstance(value, list | tuple) else value


def pieces(data: memoryview) -> Iterator[bytes]:
    """JSON text in pieces of a megabyte and less, which end between two characters: what is done to a long text piece by
    piece takes little memory."""
    at = 0
    while at < len(data):
        found = _PIECE.match(data, at)
        # A backslash at the very end escapes nothing; whoever decodes it refuses it.
        end = len(data) if found is None else found.end()
        while at < end < len(data) and data[end] & 0xC0 == 0x80 and end - at > 4:
            end -= 1
        yield bytes(data[at:end])
        at = end


def whole_escapes(data: bytes) -> bytes:
    """The same for JSON text that was not decoded yet: decoders refuse half a pair."""

    def mended(escape: re.Match[bytes]) -> bytes:
        return b"\\ufffd" if escape[1] else escape[0]

    found = b"\\ud" in data or b"\\uD" in data
    return _ESCAPE.sub(mended, data) if found and data.count(b"\\") <= _MAX_MENDED else data
