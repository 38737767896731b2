"""Finding and listing sessions. (Being written.)"""

from __future__ import annotations

from ovillo.model.records import Namespace
from ovillo.sessions.views import SessionPage, SessionSummary
from ovillo.store.protocol import SessionFilter


class Catalog:
    def list(self, namespace: Namespace, where: SessionFilter, *, limit: int = 50, cursor: str | None = None) -> SessionPage:
        """Most recently updated first. Raises InvalidInput for a bad cursor."""
        raise NotImplementedError

    def resolve(self, namespace: Namespace, ref: str) -> SessionSummary:
        """The session with this id, unambiguous id prefix, or exact title. Raises NotFound (with near ones), Ambiguous."""
        raise NotImplementedError
