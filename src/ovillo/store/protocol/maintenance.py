"""Keeping the store small: what may go because nobody can miss it, and giving its bytes back.

Owns the single steps; which of them run, and when, is ``ovillo.sessions.maintenance``'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ovillo.model.records import Namespace, SessionId


@dataclass(frozen=True, slots=True)
class StoreSize:
    """Bytes. ``disk`` is what the store's files take on the disk; ``used`` what of the database holds data: the rest
    is free inside the file and filled again before the file grows."""

    disk: int
    used: int
    free: int


class MaintenanceStore(Protocol):
    def size(self) -> StoreSize: ...

    def forget_idempotency(self, namespace: Namespace, session_id: SessionId | None, *, before: int) -> int:
        """Drop idempotency keys of sessions to which nothing was written since ``before``; how many."""
        ...

    def collapse_changes(self, namespace: Namespace, session_id: SessionId | None, *, before: int) -> int:
        """Drop entries of the change log older than ``before`` that a later entry of the same kind and reference
        repeats; how many. Whoever reads on from any ``seq`` still meets every reference that changed after it."""
        ...

    def merge_index(self) -> None:
        """Write the full-text index anew in one piece, without what was deleted from it."""
        ...

    def fold_log(self) -> bool:
        """Move the write-ahead log into the file and cut it to nothing. False when a reader held it back."""
        ...

    def give_back(self) -> None:
        """Write the file anew without free space. Raises StoreUnavailable when there is no room for the copy."""
        ...
