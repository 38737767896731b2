"""Merging what readers found."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Protocol

from ovillo.model.dataclass import dataclass
from ovillo.model.records import Namespace, SessionDelta, SessionId, SkippedRecord
from ovillo.store.protocol.analysis import Preparation, Prepared


@dataclass(frozen=True, slots=True)
class Applied:
    """What one ``apply`` changed."""

    sessions: int = 0
    messages: int = 0
    parts: int = 0
    #: Sessions with new or changed records.
    touched: frozenset[SessionId] = frozenset()
    #: Messages of these sessions exist under another session too (a fork's copies): lineage is to be resolved.
    overlapping: frozenset[tuple[SessionId, SessionId]] = frozenset()

    def __add__(self, other: Applied) -> Applied:
        return Applied(
            self.sessions + other.sessions,
            self.messages + other.messages,
            self.parts + other.parts,
            self.touched | other.touched,
            self.overlapping | other.overlapping,
        )


class IngestStore(Protocol):
    def apply(
        self,
        namespace: Namespace,
        deltas: Sequence[SessionDelta],
        *,
        source: tuple[str, str] | None = None,
        precedence: int = 0,
        cursor: Mapping[str, Any] | None = None,
        skipped: Sequence[SkippedRecord] = (),
        redactions: Mapping[str, int] | None = None,
    ) -> Applied:
        """Merge in one transaction; ``source`` is ``(reader, path)`` and its cursor moves in the same transaction: entries of
        ``cursor`` replace those of their names, ``None`` drops one.

        ``precedence`` tells which of two sources holding one session is newer: a lower one only fills gaps, and changes no
        message that is there. What was forgotten is left out, and then the cursor stays where it was. A session of a
        ``source`` that shares its id with another one, and is not the same, is kept as ``<id>~2`` and so on
        (``ids.numbered_id``); it is decided at the beginning of a file (``SessionDelta.from_start``): the same are those
        that share messages up to where one of them ends, or where one says that it goes on behind the other. Deltas
        that name a ``file`` are ordered by ``store.ordering`` once the session stands in a second one."""
        ...

    def preparation(self) -> Preparation:
        """What prepares deltas for this store's ``submit``."""
        ...

    def submit(
        self,
        namespace: Namespace,
        prepared: Prepared,
        *,
        source: tuple[str, str] | None = None,
        precedence: int = 0,
        cursor: Mapping[str, Any] | None = None,
        skipped: Sequence[SkippedRecord] = (),
        redactions: Mapping[str, int] | None = None,
        anew: Collection[SessionId] = (),
    ) -> Future[Applied]:
        """``apply`` of prepared deltas without waiting; done after COMMIT. What is handed in later is merged later.

        ``anew`` names sessions that begin here to be read again by another version of their reader: what comes takes
        the place of what is stored instead of being merged with it."""
        ...

    def end_anew(self, namespace: Namespace, reader: str, path: str) -> None:
        """All sessions of the place that were read ``anew`` are complete: what did not come again is dropped."""
        ...

    def overlaps(self, namespace: Namespace) -> list[tuple[SessionId, SessionId]]:
        """Pairs of sessions holding messages of equal id whose lineage is not decided yet."""
        ...

    def clear_overlaps(self, namespace: Namespace, pairs: Sequence[tuple[SessionId, SessionId]]) -> None: ...

    def message_times(self, namespace: Namespace, session_id: SessionId) -> list[tuple[str, int | None]]:
        """``(message id, created)`` in order."""
        ...

    def set_lineage(
        self,
        namespace: Namespace,
        session_id: SessionId,
        *,
        forked_from: SessionId,
        fork_point: str | None,
        inherited: Sequence[str],
    ) -> None:
        """Mark a session as a fork and its copied messages as inherited: they are found in the origin only, whose own
        they become again if it is no fork itself. What was found of the fork's entities is forgotten."""
        ...

    def mark_deleted_at_source(self, namespace: Namespace, session_ids: Sequence[SessionId]) -> None:
        """Their rows say so (``sessions``) until they come again."""
        ...
