"""Recording live sessions: made, changed, appended to and removed here, unlike those mirrored from clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Protocol

from ovillo.model.live import Appended, Summary
from ovillo.model.records import Message, MessageId, Namespace, Session, SessionId
from ovillo.model.sessions import SessionRow

#: Fields of a session that ``update_session`` may set.
CHANGEABLE = (
    "title",
    "status",
    "type",
    "agent",
    "model",
    "provider",
    "directory",
    "project_id",
    "git_branch",
    "modes",
    "active_files",
    "summary",
    "metadata",
)


class RecordingStore(Protocol):
    def create(self, namespace: Namespace, session: Session) -> tuple[SessionRow, bool]:
        """The session as it is stored, and whether it is new. An id that exists gives what is stored, unchanged.

        Raises Conflict for an id that was forgotten for good."""
        ...

    def update(
        self,
        namespace: Namespace,
        session_id: SessionId,
        changes: Mapping[str, Any],
        *,
        at: int,
        if_version: str | None = None,
    ) -> SessionRow:
        """Set fields of ``CHANGEABLE`` (``None`` empties one) and ``updated_at``, which never goes back.

        Raises NotFound, InvalidInput for another field, and PreconditionFailed (a Conflict) when ``if_version`` is not the
        row's ``version`` any more."""
        ...

    def delete(self, namespace: Namespace, session_id: SessionId, *, at: int, if_version: str | None = None) -> None:
        """The session with all that hangs on it: links and tasks that name it, too. Sessions that it was the parent or
        the origin of name none any more, and messages copied from it are the fork's own from then on.

        Raises NotFound, PreconditionFailed."""
        ...

    def append(
        self, namespace: Namespace, session_id: SessionId, messages: Sequence[tuple[Message, str]], *, at: int
    ) -> Future[list[Appended]]:
        """Append ``(message, idempotency key)`` in order, all or none; done after COMMIT. The store sets ``seq``, which rises
        by one from 1, and the session's ``updated_at``.

        A key this session has seen gives what it gave then and stores nothing. Two messages are the same when their role
        and what their parts say are (type, text, tool, file, patch); ids and times are not compared.
        Fails with NotFound, and with Conflict when a key comes again with another message."""
        ...

    def take_back(self, namespace: Namespace, session_id: SessionId, most: int | None, *, at: int) -> list[MessageId]:
        """Mark the newest messages that are not reverted yet as reverted, at most so many, all for ``None``; their ids, the newest
        first. They stay, and two callers at once never get the same.

        Raises NotFound."""
        ...

    def put_summary(self, namespace: Namespace, summary: Summary) -> None:
        """Keep a summary; the beginning of its text becomes the ``summary`` of a session recorded here.

        Raises NotFound, and Conflict when the session has a newer one (another process made it)."""
        ...

    def summaries(self, namespace: Namespace, session_id: SessionId) -> list[Summary]:
        """Oldest first; the last one is in force."""
        ...
