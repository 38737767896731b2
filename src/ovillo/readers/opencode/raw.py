"""A session as OpenCode keeps it, whatever generation it was read from.

Owns the common shape of the three stores: records in the words of the JSON tree. Interprets nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ovillo.readers.loose import count_of, dict_of

Raw = dict[str, Any]


@dataclass(slots=True)
class RawMessage:
    id: str
    data: Raw
    #: ``(id, record)`` in the order of their ids, which is the order they were made in.
    parts: list[tuple[str, Raw]] = field(default_factory=list)

    @property
    def created(self) -> int:
        return count_of(dict_of(self.data.get("time")).get("created"))


@dataclass(slots=True)
class RawSession:
    id: str
    data: Raw
    messages: list[RawMessage] = field(default_factory=list)
    todos: list[Raw] = field(default_factory=list)
    diff: list[Raw] = field(default_factory=list)
    worktree: str | None = None
    #: The messages here are only those that changed.
    partial: bool = False

    def sort(self) -> None:
        """By time and id: ids alone wrap every 795 days (last on 2026-08-14)."""
        self.messages.sort(key=lambda message: (message.created, message.id))
