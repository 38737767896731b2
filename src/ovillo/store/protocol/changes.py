"""The change log: the truth for sync. Its numbers never go back within a namespace, and may have gaps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ovillo.model.dataclass import dataclass
from ovillo.model.records import Namespace


@dataclass(frozen=True, slots=True)
class Change:
    """One entry. ``seq`` is its number in its namespace.

    Kinds, and what ``ref`` is: ``session``, ``session_deleted``, ``summary``, ``snapshot`` (id of the session), ``message``
    (``SESSION/MESSAGE``), ``link`` (``FROM/RELATIONSHIP/TO``), ``task`` (id), ``context`` (``CONTEXT/KEY``, or the context that
    was switched to), ``code`` (root), ``knowledge`` (path), ``memory``
    (id). Of a session that is removed the entries go, and one
    ``session_deleted`` comes; of a forgotten one its ``ref`` is ``forgotten:MARK`` and tells no id. Merging writes one
    ``session`` for all that it changed in a session."""

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
