"""Parents, descendants, siblings and forks of a session. (Being written.)"""

from __future__ import annotations

from ovillo.model.records import Namespace, SessionId
from ovillo.sessions.views import Lineage


class LineageService:
    def of(self, namespace: Namespace, session_id: SessionId) -> Lineage:
        """Raises NotFound. Cycles and missing parents become warnings."""
        raise NotImplementedError
