"""Records and files with a secret in every string, for tests that look for it afterwards."""

from __future__ import annotations

import json
import types
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, NewType, TypeVar, Union, get_args, get_origin, get_type_hints

#: Drawn in two pieces, so that no file holds what looks alive.
TOKEN = "ghp" + "_" + "q7W9zK2mX4vB8nT1cR5yL3dF6hJ0pS7aE9uG"
#: What index terms keep of it.
BODY = TOKEN.split("_")[1]

_T = TypeVar("_T")


def planted(kind: type[_T], spare: Collection[str] = ()) -> _T:
    """A record of class ``kind`` with the secret in every string of it and of what it holds.

    ``spare`` names fields (``Session.source``) whose strings are ours."""
    hints = get_type_hints(kind)
    given = {}
    for field in fields(kind):  # type: ignore[arg-type]  # a dataclass
        where = f"{kind.__name__}.{field.name}"
        given[field.name] = "plain" if where in spare else _value(hints[field.name], field.name, spare)
    return kind(**given)


def _value(hint: Any, name: str, spare: Collection[str]) -> Any:
    while isinstance(hint, NewType):
        hint = hint.__supertype__
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _value(next(x for x in arguments if x is not type(None)), name, spare)
    if hint is str:
        return f"{name}-{TOKEN}"
    if hint is Any or origin in (dict, Mapping) or hint is Mapping or getattr(origin, "__name__", "") == "Mapping":
        return {f"key-{TOKEN}": [f"{name} {TOKEN}", {"password": "Gato" + "#2024x"}]}
    if origin is tuple:
        inner = [x for x in arguments if x is not Ellipsis]
        return tuple(_value(x, name, spare) for x in inner)
    if origin is frozenset:
        return frozenset({_value(arguments[0], name, spare)})
    if is_dataclass(hint):
        return planted(hint, spare)  # type: ignore[arg-type]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return next(iter(hint))
    return {int: 1, float: 1.0, bool: False, bytes: b"x"}[hint]


#: Values of these keys decide how a line is read.
_GRAMMAR = {"type", "role", "timestamp", "subtype", "status", "kind", "operation", "version", "cli_version", "model",
            "sessionId", "session_id", "startTime", "lastUpdated", "stop_reason", "source", "originator"}  # fmt: skip


def plant_lines(path: Path) -> None:
    """Every JSON line of a history gets the secret into every string and a key of its own."""
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    path.write_text("".join(json.dumps(_with_secret(line)) + "\n" for line in lines))


def _with_secret(value: Any, key: str = "") -> Any:
    if isinstance(value, str):
        return value if key in _GRAMMAR or key.lower().endswith("id") else f"{value} {TOKEN}"
    if isinstance(value, list):
        return [_with_secret(one, key) for one in value]
    if isinstance(value, dict):
        return {**{name: _with_secret(one, name) for name, one in value.items()}, f"extra-{TOKEN}": TOKEN}
    return value


def holds(data: bytes | str) -> bool:
    """Whether the secret stands in ``data``, also in small letters, as terms of an index do."""
    raw = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    return BODY.encode() in raw or BODY.lower().encode() in raw


def around(data: bytes) -> bytes:
    """Where it stands, for a message."""
    at = max(data.find(BODY.encode()), data.find(BODY.lower().encode()))
    return data[max(at - 150, 0) : at + 80]
