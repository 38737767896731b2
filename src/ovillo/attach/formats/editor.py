"""What an editor of settings does, and the one error of all of them.

Owns the shapes. ``Value`` is what JSON has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ovillo.model.errors import Conflict

#: Plain data: dictionaries and lists.
Value = dict[str, Any] | list[Any]
Keys = tuple[str, ...]


class Uneditable(Conflict):
    """The text is not what it should be, or has a form in which nothing can be put without touching something else."""


class Editor(Protocol):
    def find(self, text: str, keys: Keys) -> object | None:
        """What stands under ``keys``, as plain data; ``None`` when nothing does. Raises Uneditable."""

    def put(self, text: str, keys: Keys, value: Value) -> str:
        """The text with ``value`` under ``keys``, in place of what stood there. Raises Uneditable."""

    def take_out(self, text: str, keys: Keys) -> str:
        """The text without what stands under ``keys``; what holds nothing else then goes too. Raises Uneditable."""


def with_entry(data: Mapping[str, Any], keys: Keys, value: Value) -> dict[str, Any]:
    """What the text must mean once ``value`` is in it."""
    first, *rest = keys
    inner = data.get(first)
    nested = with_entry(inner if isinstance(inner, Mapping) else {}, tuple(rest), value) if rest else value
    return {**data, first: nested}


def without_entry(data: Mapping[str, Any], keys: Keys) -> dict[str, Any]:
    """What the text must mean once the entry is gone, and what held nothing else with it."""
    first, *rest = keys
    others = {key: each for key, each in data.items() if key != first}
    inner = data.get(first)
    if not rest or not isinstance(inner, Mapping):
        return others
    left = without_entry(inner, tuple(rest))
    return {key: left if key == first else each for key, each in data.items()} if left else others
