"""Records as they come back from a store: whole characters, plain JSON, whole numbers of 64 bits."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar

from ovillo.model.characters import whole, whole_json
from ovillo.model.errors import InvalidInput

T = TypeVar("T")
#: Fields that hold any JSON; numbers in it may be of any size.
_JSON = ("metadata", "input", "value", "baseline")


def stored(record: T) -> T:
    """Raises InvalidInput for a number that no store has to hold."""
    kept: T = _kept(record)
    return kept


def _kept(value: Any) -> Any:
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise InvalidInput("A number is outside of what can be stored.", hint="Whole numbers have 64 bits here.")
    if isinstance(value, tuple):
        return tuple(map(_kept, value))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{each.name: _field(each.name, getattr(value, each.name)) for each in fields(value)})
    return value


def _field(name: str, value: Any) -> Any:
    return whole_json(value) if name in _JSON else _kept(value)
