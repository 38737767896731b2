"""Links between sessions, pairs that are not to be proposed, and what proposals are made from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ovillo.model.coordination import Link, SharedFile
from ovillo.model.records import Namespace, SessionId


class LinkStore(Protocol):
    def put(self, namespace: Namespace, link: Link) -> bool:
        """Keep a link; the same pair and relationship again replaces it. Whether it is new. Both sessions show it: their
        rows have another ``version`` afterwards, also when it is removed. Raises NotFound."""
        ...

    def remove(
        self, namespace: Namespace, from_id: SessionId, to_id: SessionId, relationship: str | None, *, at: int
    ) -> int:
        """How many were there: one, or with ``None`` those of every relationship."""
        ...

    def of(self, namespace: Namespace, session_ids: Sequence[SessionId]) -> list[Link]:
        """Links from or to these sessions, oldest first."""
        ...

    def dismiss(self, namespace: Namespace, one: SessionId, other: SessionId, *, at: int) -> None:
        """Raises NotFound."""
        ...

    def dismissed_with(self, namespace: Namespace, session_id: SessionId) -> set[SessionId]:
        """Sessions that are not to be proposed together with this one."""
        ...

    def sharing_files(self, namespace: Namespace, session_id: SessionId, limit: int) -> list[SharedFile]:
        """Files of this session that others touched too, those that few sessions touched first."""
        ...

    def prompts_of(
        self, namespace: Namespace, session_ids: Sequence[SessionId], per_session: int
    ) -> dict[SessionId, list[str]]:
        """The first texts that people said in these sessions (their own, not inherited)."""
        ...
