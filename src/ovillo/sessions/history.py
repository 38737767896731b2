"""Reading a session from beginning to end. (Being written.)"""

from __future__ import annotations

from ovillo.model.records import Message, Namespace, Part, SessionId
from ovillo.sessions.views import HistoryPage


class History:
    def page(
        self,
        namespace: Namespace,
        session_id: SessionId,
        *,
        limit: int = 50,
        cursor: str | None = None,
        around: str | None = None,
        newest: bool = False,
    ) -> HistoryPage:
        """``limit`` messages in order, inherited ones of a fork first. ``around`` opens at a message or part id;
        ``newest`` gives the last page. Raises NotFound, InvalidInput."""
        raise NotImplementedError

    def message(self, namespace: Namespace, session_id: SessionId, message_id: str) -> Message:
        """One whole message. Raises NotFound."""
        raise NotImplementedError

    def part(self, namespace: Namespace, session_id: SessionId, part_id: str) -> Part:
        """One whole part. Raises NotFound."""
        raise NotImplementedError
