"""Removing for good: sessions with every trace of them, and marks that keep them from coming back.

Owns the single steps; ``ovillo.sessions.forgetting`` selects sessions and asks for confirmation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ovillo.model.dataclass import dataclass
from ovillo.model.records import Namespace, SessionId
from ovillo.model.tombstones import Tombstone


@dataclass(frozen=True, slots=True)
class Traces:
    """What depends on sessions, counted before they are removed."""

    sessions: int = 0
    messages: int = 0
    parts: int = 0
    summaries: int = 0
    snapshots: int = 0
    links: int = 0
    #: Entries of the timesheet that name one of them.
    tasks: int = 0
    #: Sessions that stay and hold copies of their messages.
    forks: int = 0
    #: Memories that came from them.
    memories: int = 0


class ForgettingStore(Protocol):
    def traces(self, namespace: Namespace, session_ids: Sequence[SessionId]) -> Traces: ...

    def forget_session(
        self,
        namespace: Namespace,
        session_id: SessionId,
        *,
        at: int,
        part_of: Tombstone | None = None,
    ) -> bool:
        """Remove a session with every trace, and mark its id. False when there is none (the id is marked all the same).

        Also removes the cursors of its files and the records skipped in them, whose file names reveal it. Its words may
        stay where the engine keeps removed data until ``wipe``."""
        ...

    def put_tombstone(self, namespace: Namespace, tombstone: Tombstone) -> None: ...

    def forget_tasks(self, namespace: Namespace, directory: str) -> int:
        """Remove entries of the timesheet about a folder and those below; returns how many."""
        ...

    def tombstones(self, namespace: Namespace) -> list[Tombstone]:
        """Newest first; sessions removed with a project or source are counted there and not listed."""
        ...

    def all_marks(self, namespace: Namespace) -> Mapping[str, Mapping[bytes, int]]:
        """Kind -> mark -> time."""
        ...

    def lift_tombstones(self, namespace: Namespace, marks: Sequence[bytes], dropping: Sequence[str] = ()) -> int:
        """Allow these to be read again, with everything that went with them; returns the number of marks removed. Every
        source of the namespace is then read as after ``read_source_again``."""
        ...

    def key(self) -> bytes | None:
        """The key of all marks: the store's secret named ``forgetting``, created with the first mark; ``None``
        before."""
        ...

    def wipe_is_due(self) -> bool:
        """Whether something was removed since the last ``wipe``, so that its text may still exist somewhere."""
        ...

    def wipe(self) -> str | None:
        """Erase all removed data from wherever the engine keeps it, while others write. Returns what prevented it, if
        anything: then it stays due, as does what is removed meanwhile."""
        ...

    # --- what is not read

    def excluded(self, namespace: Namespace) -> dict[tuple[str, str], dict[str, tuple[bytes, int]]]:
        """``(reader, path)`` -> rule -> (its digest then, sessions)."""
        ...

    def excluded_marks(self, namespace: Namespace, reader: str, path: str) -> dict[bytes, tuple[str, bytes]]:
        """Mark of a session -> ``(rule, its digest then)``; the rule is empty for forgotten ones."""
        ...

    def note_excluded(
        self, namespace: Namespace, reader: str, path: str, found: Sequence[tuple[str, bytes, bytes]]
    ) -> None:
        """``(rule, its digest, mark of the session)``."""
        ...

    def read_source_again(self, namespace: Namespace, reader: str, path: str, dropping: Sequence[str] = ()) -> None:
        """Forget what was excluded there, because a rule is gone, and drop the entries of its cursor whose keys begin
        with one of ``dropping``."""
        ...
