"""The change log: the truth for sync."""

from __future__ import annotations

from collections.abc import Callable
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
    def since(self, namespace: Namespace, since: int, limit: int) -> list[Change]: ...

    def last(self, namespace: Namespace) -> int:
        """``seq`` of the newest change; 0 when nothing ever happened."""
        ...

    def on_commit(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` after each COMMIT of this store object until the returned function is called.

        It runs on the writer's thread: it must return at once and never raise. What other processes commit is not
        told here."""
        ...
