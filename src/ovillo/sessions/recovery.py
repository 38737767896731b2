"""Giving a session back after its context was compacted. (Being written.)"""

from __future__ import annotations

from ovillo.model.records import Namespace, SessionId
from ovillo.sessions.views import RecoveredContext


class Recovery:
    def recover(self, namespace: Namespace, session_id: SessionId, max_tokens: int = 4_000) -> RecoveredContext:
        """The whole thread within ``max_tokens``, best first. Raises NotFound, InvalidInput."""
        raise NotImplementedError
