"""Type and status of mirrored sessions."""

from __future__ import annotations

from dataclasses import replace

from ovillo.model.live import NATIVE
from ovillo.model.records import Namespace, SessionId, SessionStatus, SessionType
from tests.store.memory.state import StoredSession
from tests.store.memory.substore import SubStore


class Classification(SubStore):
    def unclassified(self, namespace: Namespace, idle_since: int, limit: int) -> list[SessionId]:
        waiting = [kept for kept in self._state.space(namespace).sessions.values() if _waits(kept, idle_since)]
        waiting.sort(key=lambda kept: kept.session.updated_at or 0, reverse=True)
        return [kept.session.id for kept in waiting[:limit]]

    def classify(
        self, namespace: Namespace, found: list[tuple[SessionId, SessionType, SessionStatus]], *, at: int
    ) -> None:
        with self._state.writing_to(namespace) as space:
            for session_id, kind, status in found:
                if (kept := space.sessions.get(session_id)) is None:
                    continue
                told_by_client = kept.session.status is SessionStatus.ARCHIVED or (
                    kept.session.status is SessionStatus.COMPLETED and not kept.classified_at
                )
                stays = kept.session.status if told_by_client else status
                kept.session = replace(kept.session, type=kind, status=stays)
                kept.classified_at = max(at, (kept.session.updated_at or 0) + 1)


def _waits(kept: StoredSession, idle_since: int) -> bool:
    session = kept.session
    if session.source == NATIVE or not kept.messages:
        return False
    updated_at = session.updated_at or 0
    went_quiet = session.status is SessionStatus.ACTIVE and max(updated_at, kept.classified_at) < idle_since
    return not kept.classified_at or kept.classified_at <= updated_at or went_quiet
