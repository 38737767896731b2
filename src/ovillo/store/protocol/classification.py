"""What is told of mirrored sessions after they were read: type and status, which clients do not keep."""

from __future__ import annotations

from typing import Protocol

from ovillo.model.records import Namespace, SessionId, SessionStatus, SessionType


class ClassificationStore(Protocol):
    def unclassified(self, namespace: Namespace, idle_since: int, limit: int) -> list[SessionId]:
        """Mirrored sessions, newest first, that changed since they were classified, or were active then and have not been
        touched since ``idle_since`` (milliseconds)."""
        ...

    def classify(
        self, namespace: Namespace, found: list[tuple[SessionId, SessionType, SessionStatus]], *, at: int
    ) -> None:
        """Keep what was told; what a client itself said (archived, completed) stays."""
        ...
