"""Keeping the store small: what may go because nobody can miss it, and giving its bytes back.

Owns dropping what is over, and naming the steps an engine takes to use less room; which run, and measuring them, is
``ovillo.sessions.maintenance``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from ovillo.model.dataclass import dataclass
from ovillo.model.records import Namespace, SessionId

#: How much work may be done: ``aggressive`` may take as long as writing everything anew.
Level = Literal["light", "medium", "aggressive"]


@dataclass(frozen=True, slots=True)
class StoreSize:
    """Bytes. ``disk`` is what the store takes on the disk; ``used`` what of it holds data, ``free`` what is filled again
    before it grows."""

    disk: int
    used: int
    free: int


class StepLeftOut(Exception):
    """A step that was not taken, and why, for people."""


@dataclass(frozen=True, slots=True)
class MaintenanceStep:
    """Something an engine can do for its size, e.g. writing its index in one piece.

    ``run`` gives back what it did, for people; it raises StepLeftOut, and StoreUnavailable where there is no room."""

    name: str
    run: Callable[[], str]
    #: False: it is harmless and short, and worth taking after any other step.
    touches_everything: bool = True


class MaintenanceStore(Protocol):
    def size(self) -> StoreSize: ...

    def forget_idempotency(self, namespace: Namespace, session_id: SessionId | None, *, before: int) -> int:
        """Drop idempotency keys of sessions to which nothing was written since ``before``; how many."""
        ...

    def collapse_changes(self, namespace: Namespace, session_id: SessionId | None, *, before: int) -> int:
        """Drop entries of the change log older than ``before`` that a later entry of the same kind and reference
        repeats; how many. Whoever reads on from any ``seq`` still meets every reference that changed after it."""
        ...

    def maintain(self, level: Level) -> Sequence[MaintenanceStep]:
        """What this engine can do at a level, in the order to do it in; nothing is done before a step is run."""
        ...
