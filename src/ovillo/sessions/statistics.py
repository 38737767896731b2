"""Figures of one session.

Owns what counts as the session's own: what a fork inherited and what sub-agents did stand apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ovillo.model.errors import NotFound
from ovillo.model.records import Namespace, SessionId, Usage
from ovillo.sessions.catalog import summarise
from ovillo.sessions.lineage import LineageService
from ovillo.sessions.views import Descendants, Statistics

if TYPE_CHECKING:
    from ovillo.store.protocol import Store


class StatisticsService:
    def __init__(self, store: Store, lineage: LineageService) -> None:
        self._store = store
        self._lineage = lineage

    def of(self, namespace: Namespace, session_id: SessionId) -> Statistics:
        """Raises NotFound."""
        row = self._store.get_session(namespace, session_id)
        if row is None:
            raise NotFound(f"No session {session_id!r}.", hint="List sessions, or search for words said in it.")
        session = row.session
        own = self._store.totals(namespace, session_id)
        copied = session.forked_from is not None
        inherited = self._store.totals(namespace, session_id, inherited=True) if copied else type(own)()
        created = session.created_at if session.created_at is not None else own.first_at
        updated = session.updated_at if session.updated_at is not None else own.last_at
        duration = max(0, updated - created) if created is not None and updated is not None else 0
        return Statistics(
            summary=summarise(row),
            duration_ms=duration,
            active_ms=own.active_ms,
            own=own,
            inherited=inherited,
            # A client that sums its changes up knows better than the patches it happened to keep.
            additions=own.additions if session.additions is None else session.additions,
            deletions=own.deletions if session.deletions is None else session.deletions,
            files=len(own.files) if session.files_changed is None else session.files_changed,
            descendants=self._descendants(namespace, session_id),
        )

    def _descendants(self, namespace: Namespace, session_id: SessionId) -> Descendants:
        """Sums over the sub-agents below; forks are sessions of their own."""
        usage, cost, messages, sessions = Usage(), 0.0, 0, 0
        nodes = list(self._lineage.of(namespace, session_id).children)
        while nodes:
            node = nodes.pop()
            if node.relation != "parent":
                continue
            nodes += node.children
            totals = self._store.totals(namespace, node.summary.session.id)
            sessions += 1
            usage, cost, messages = usage + totals.usage, cost + totals.cost, messages + totals.messages
        return Descendants(sessions, usage, cost, messages)
