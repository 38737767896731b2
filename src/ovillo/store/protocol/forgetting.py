"""Removing for good: sessions with every trace of them, and marks that keep them from coming back.

Owns the single steps; what is chosen, and who is asked, is ``ovillo.sessions.forgetting``'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ovillo.model.dataclass import dataclass
from ovillo.model.records import Namespace, SessionId
from ovillo.model.tombstones import Tombstone


@dataclass(frozen=True, slots=True)
class Traces:
    """What hangs on sessions, counted before they are removed."""

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
        """Remove one with every trace, and mark its id. False when there is none (it is marked all the same).

        Where reading of its files stopped goes too, with what was skipped in them: names of files tell of it. Its words
        may stay where the engine keeps what it removed until ``wipe``."""
        ...

    def put_tombstone(self, namespace: Namespace, tombstone: Tombstone) -> None: ...

    def forget_tasks(self, namespace: Namespace, directory: str) -> int:
        """Entries of the timesheet about a folder and those below; how many are gone."""
        ...

    def tombstones(self, namespace: Namespace) -> list[Tombstone]:
        """Newest first; sessions that went with a project or source are counted there and not listed."""
        ...

    def all_marks(self, namespace: Namespace) -> Mapping[str, Mapping[bytes, int]]:
        """Kind -> mark -> when."""
        ...

    def lift_tombstones(self, namespace: Namespace, marks: Sequence[bytes], dropping: Sequence[str] = ()) -> int:
        """Allow these to be read again, with all that went with them; how many marks are gone. Every source of the
        namespace is read as after ``read_source_again``."""
        ...

    def key(self) -> bytes | None:
        """The key of all marks: the store's secret of the name ``forgetting``, made with the first of them, and ``None``
        before."""
        ...

    def wipe_is_due(self) -> bool:
        """Whether something was removed since the last ``wipe``, so that its text may still stand somewhere."""
        ...

    def wipe(self) -> str | None:
        """Leave nothing of what was removed, whatever has to be written anew for it. What was in the way, if anything:
        then it stays due. May block writers meanwhile."""
        ...

    # --- what is not read

    def excluded(self, namespace: Namespace) -> dict[tuple[str, str], dict[str, tuple[bytes, int]]]:
        """``(reader, path)`` -> rule -> (what it said then, sessions)."""
        ...

    def excluded_marks(self, namespace: Namespace, reader: str, path: str) -> dict[bytes, tuple[str, bytes]]:
        """Mark of a session -> ``(rule, what it said then)``; the rule is empty for what is forgotten."""
        ...

    def note_excluded(
        self, namespace: Namespace, reader: str, path: str, found: Sequence[tuple[str, bytes, bytes]]
    ) -> None:
        """``(rule, what it says, mark of the session)``."""
        ...

    def read_source_again(self, namespace: Namespace, reader: str, path: str, dropping: Sequence[str] = ()) -> None:
        """Forget what was excluded there, because a rule is gone, and the entries of its cursor whose keys begin with one of
        ``dropping``: where reading stopped."""
        ...
