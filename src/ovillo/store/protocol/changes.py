"""The change log: the truth for sync."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ovillo.model.records import Namespace


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the change log: the truth for sync."""

    seq: int
    kind: str
    ref: str
    at: int


class ChangeStore(Protocol):
    def changes(self, namespace: Namespace, since: int, limit: int) -> list[Change]: ...

    def last_change(self, namespace: Namespace) -> int:
        """``seq`` of the newest change; 0 when nothing ever happened."""
        ...
