"""The change log: the truth for sync. Its numbers never go back within a namespace, and may have gaps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ovillo.model.records import Namespace


@dataclass(frozen=True, slots=True)
class Change:
    """One entry. ``seq`` is its number in its namespace."""

    seq: int
    kind: str
    ref: str
    at: int


class ChangeStore(Protocol):
    def since(self, namespace: Namespace, since: int, limit: int) -> list[Change]:
        """The oldest ``limit`` with a larger number than ``since``. What is committed later has a larger number than
        everything that was given before: whoever goes on from the last one misses nothing."""
        ...

    def last(self, namespace: Namespace) -> int:
        """``seq`` of the newest change; 0 when nothing ever happened."""
        ...

    def listen(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` when something was committed, by whichever process, until the returned function is called:
        at once for what this store object commits, within a fraction of a second for others.

        It may be called more often than something changed, and on any thread: it must return at once and never raise."""
        ...
