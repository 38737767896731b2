"""Named sets of keys and values, and which of them is at hand for whom."""

from __future__ import annotations

from typing import Protocol

from ovillo.model.coordination import ContextEntry, ContextSwitch
from ovillo.model.records import Namespace


class ContextStore(Protocol):
    def put(self, namespace: Namespace, entry: ContextEntry) -> None:
        """Keep an entry in its context, in place of the one under the same key; expired ones are removed meanwhile."""
        ...

    def get(self, namespace: Namespace, context: str, key: str) -> ContextEntry | None:
        """As it is kept, expired or not."""
        ...

    def entries(self, namespace: Namespace, context: str, *, at: int, limit: int = 1_000) -> list[ContextEntry]:
        """Those alive ``at`` a time, by key."""
        ...

    def remove(self, namespace: Namespace, context: str, key: str, *, at: int) -> bool:
        """Whether there was one."""
        ...

    def counts(self, namespace: Namespace, *, at: int) -> dict[str, int]:
        """Names of contexts that hold something, and how many entries are alive in each."""
        ...

    def current(self, namespace: Namespace, caller: str) -> str | None: ...

    def switch(
        self, namespace: Namespace, caller: str, target: str, *, default: str, preserve: bool, at: int
    ) -> ContextSwitch:
        """Make ``target`` the caller's; ``default`` is what it has before its first switch.

        Without ``preserve`` what the caller itself kept in the one it leaves is dropped. A whole context may have been
        stored as one value: where ``target`` holds nothing alive, and the one that is left has a live entry under
        ``target`` as its key, that entry is copied into ``target`` first."""
        ...

    def prune(self, namespace: Namespace, *, at: int) -> int:
        """Remove entries whose time is over; how many."""
        ...
