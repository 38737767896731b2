"""How a store is doing: what readiness, metrics and status tell of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoreCondition:
    """Figures of this process where writing is meant, of the whole store (all namespaces) where content is."""

    #: Writes are taken and the thread or connection that does them lives.
    writer_alive: bool
    #: The schema is the one this program knows; another process may have upgraded it meanwhile.
    schema_current: bool
    #: Pieces of work waiting to be committed.
    queue_depth: int
    commits: int
    #: Time spent in commits, in all (seconds).
    commit_s: float
    #: Bytes of the data, and of what is not folded into it yet.
    size_bytes: int
    unmerged_bytes: int


@dataclass(frozen=True, slots=True)
class StoreContent:
    """Counts over all namespaces."""

    sessions: int
    messages: int
    #: Secrets masked, by kind.
    redactions: dict[str, int]
