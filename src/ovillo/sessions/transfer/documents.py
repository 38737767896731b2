"""From the bytes somebody hands in to plain JSON data, within bounds, before anything is made of them.

Owns the limits of an import (size, values, depth), what is refused as no JSON, and telling the forms apart: the export
(JSON), its JSON lines, turns as JSON lines. What the data means is ``import_shapes``.

A bomb is a small text that becomes large data: the text is first walked without making anything of it, its values are
counted, and only then it is decoded. Compressed files are refused, so that nothing grows by unpacking.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

import msgspec

from ovillo.model.characters import whole, whole_escapes
from ovillo.model.errors import InvalidInput, LimitExceeded
from ovillo.model.limits import MAX_JSON_DEPTH
from ovillo.sessions.transfer.json_form import VERSION

#: The whole text (bytes of UTF-8).
MAX_IMPORT_BYTES = 64 * 1024 * 1024
#: Objects, arrays and what stands in them. An export has one for 25 bytes or more, so that none of 64 MiB comes near;
#: a value of two bytes takes 100 in memory.
MAX_VALUES = 4_000_000
MAX_MESSAGES = 200_000

_COMPRESSED = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
}
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_FORMS = f"an export (JSON object with version {VERSION!r} and session), its JSON lines, or turns as JSON lines"


@dataclass(frozen=True, slots=True)
class Document:
    """``head`` is the export without its messages (empty for turns); ``places`` names each message in errors."""

    head: dict[str, Any]
    messages: list[dict[str, Any]]
    #: Written by ``json_form`` or after the specification; otherwise turns, whose fields have no fixed names.
    is_export: bool = True
    #: With JSON lines: the line of each message; else they are numbered from 0.
    lines: list[int] = field(default_factory=list)

    def place(self, index: int) -> str:
        return f"line {self.lines[index]}" if self.lines else f"session.messages[{index}]"


def parse(text: str | bytes) -> Document:
    """Raises LimitExceeded and InvalidInput, which name what is wrong and where."""
    data = text if isinstance(text, bytes) else whole(text).encode()
    if len(data) > MAX_IMPORT_BYTES:
        raise LimitExceeded(
            f"The import has {len(data):,} bytes.",
            hint=f"It may have {MAX_IMPORT_BYTES:,} (64 MiB); split the session.",
        )
    data = whole_escapes(_plain_utf8(data))
    first, _, rest = data.partition(b"\n")
    if rest.strip() and _is_object(first.strip()):
        return _from_lines(data)
    value = _decoded(data, "The import")
    if not isinstance(value, dict):
        raise InvalidInput(f"The import is {_kind(value)}, not a session.", hint=f"Give {_FORMS}.")
    if value.get("type") == "session" and "version" in value:
        return _jsonl_export([(1, value)])
    if "version" not in value and "session" not in value and _is_turn(value):
        return Document({}, [value], is_export=False, lines=[1])
    return _export(value)


def _plain_utf8(data: bytes) -> bytes:
    for magic, name in _COMPRESSED.items():
        if data.startswith(magic):
            raise InvalidInput(f"The import is compressed ({name}).", hint="Unpack it and import the JSON inside.")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InvalidInput("The import is UTF-16.", hint="Save it as UTF-8.")
    data = data.removeprefix(b"\xef\xbb\xbf").strip()
    if not data:
        raise InvalidInput("The import is empty.", hint=f"Give {_FORMS}.")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"The import is not UTF-8 (byte {error.start:,}).", hint="Save it as UTF-8.") from None
    return data


# --- JSON, bounded


def _decoded(data: bytes, what: str) -> Any:
    """The value of one JSON text that is not too much of anything."""
    _walk(data, what)
    if _structure(data) > MAX_VALUES and _structure(_STRING.sub(b"", data)) > MAX_VALUES:
        _too_many_values()
    try:
        value = msgspec.json.decode(data)
    except (msgspec.MsgspecError, ValueError) as error:
        _no_json(what, error)
    _check_depth(value, what)
    return value


def _walk(data: bytes, what: str) -> None:
    """Well formed as far as can be told without making anything: what comes after may rely on strings that end."""
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except RecursionError:
        _too_deep(what)
    except (msgspec.MsgspecError, ValueError) as error:
        _no_json(what, error)


def _no_json(what: str, error: Exception) -> NoReturn:
    raise InvalidInput(f"{what} is no JSON: {str(error)[:200]}.", hint=f"Give {_FORMS}.") from None


def _structure(data: bytes) -> int:
    """At least as many as there are values in ``data``."""
    return sum(data.count(sign) for sign in (b",", b"[", b"{"))


def _check_depth(value: Any, what: str) -> None:
    level = [value]
    for _ in range(MAX_JSON_DEPTH + 1):
        level = [item for each in level for item in _inside(each) if isinstance(item, dict | list)]
        if not level:
            return
    _too_deep(what)


def _inside(value: Any) -> Iterator[Any]:
    return iter(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())


def _too_deep(what: str) -> NoReturn:
    raise InvalidInput(f"{what} is nested too deeply.", hint=f"At most {MAX_JSON_DEPTH} levels.") from None


def _too_many_values() -> NoReturn:
    raise LimitExceeded(
        f"The import has more than {MAX_VALUES:,} values.", hint="No session has as many; is it the right file?"
    )


# --- forms


def _export(value: dict[str, Any]) -> Document:
    _check_version(value, "")
    session = value.get("session")
    if not isinstance(session, dict):
        raise InvalidInput(f"session is {_kind(session)}.", hint="It has to be an object with name and messages.")
    messages = session.get("messages")
    if not isinstance(messages, list):
        raise InvalidInput(f"session.messages is {_kind(messages)}.", hint="It has to be an array of messages.")
    _check_messages(len(messages))
    for index, message in enumerate(messages):
        if not isinstance(message, dict):
            raise InvalidInput(
                f"session.messages[{index}] is {_kind(message)}.", hint="A message is an object with role and content."
            )
    head = {**value, "session": {name: x for name, x in session.items() if name != "messages"}}
    return Document(head, messages)


def _from_lines(data: bytes) -> Document:
    if data.count(b"\n") > MAX_MESSAGES * 2:
        _check_messages(data.count(b"\n"))
    if (most := _structure(data)) > MAX_VALUES:
        _count_lines(data, most)
    found: list[tuple[int, dict[str, Any]]] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not (line := line.strip()):
            continue
        value = _decoded(line, f"Line {number}")
        if not isinstance(value, dict):
            raise InvalidInput(f"Line {number} is {_kind(value)}.", hint="Each line is one JSON object.")
        found.append((number, value))
    _check_messages(len(found))
    head = found[0][1]
    if head.get("type") == "session" or "version" in head:
        return _jsonl_export(found)
    return Document({}, [value for _, value in found], is_export=False, lines=[number for number, _ in found])


def _count_lines(data: bytes, most: int) -> None:
    """Signs inside strings count for nothing; lines that do not end their strings are found when they are decoded."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            _walk(line, f"Line {number}")
            most -= _structure(line) - _structure(_STRING.sub(b"", line))
    if most > MAX_VALUES:
        _too_many_values()


def _jsonl_export(found: list[tuple[int, dict[str, Any]]]) -> Document:
    line, head = found[0]
    _check_version(head, f"line {line}: ")
    if not isinstance(head.get("session"), dict):
        raise InvalidInput(f"line {line}: session is {_kind(head.get('session'))}.", hint="It has to be an object.")
    for number, value in found[1:]:
        if value.get("type") != "message":
            raise InvalidInput(
                f"line {number}: type is {str(value.get('type'))[:40]!r}.",
                hint="After the session only messages follow.",
            )
    messages = [{name: x for name, x in value.items() if name != "type"} for _, value in found[1:]]
    return Document(head, messages, lines=[number for number, _ in found[1:]])


def _check_version(value: dict[str, Any], place: str) -> None:
    version = value.get("version")
    if version != VERSION:
        told = "is missing" if "version" not in value else f"is {json.dumps(version)[:40]}"
        raise InvalidInput(f"{place}version {told}.", hint=f'Known: "{VERSION}".')


def _check_messages(count: int) -> None:
    if count > MAX_MESSAGES:
        raise LimitExceeded(f"The import has {count:,} messages.", hint=f"{MAX_MESSAGES:,} at most.")


def _is_object(line: bytes) -> bool:
    """Whether one line is a JSON object by itself: then the others are lines as well."""
    if not (line.startswith(b"{") and line.endswith(b"}")):
        return False
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return False
    return True


def _is_turn(value: dict[str, Any]) -> bool:
    return "role" in value or ("user" in value and "assistant" in value)


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "missing or null"}
    return names.get(type(value), "a number")
