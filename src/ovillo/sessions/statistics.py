"""Figures of one session. (Being written.)"""

from __future__ import annotations

from ovillo.model.records import Namespace, SessionId
from ovillo.sessions.views import Statistics


class StatisticsService:
    def of(self, namespace: Namespace, session_id: SessionId) -> Statistics:
        """Raises NotFound."""
        raise NotImplementedError
