"""What programs keep beside a session to go on from: checkpoints of a graph, lines of a transcript.

Owns JSON values by name, on shelves that each belong to one session and go with it. What they mean is their program's; nothing
of them is searched or shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from ovillo.model.dataclass import dataclass
from ovillo.model.records import Namespace, SessionId


@dataclass(frozen=True, slots=True)
class Shelf:
    session_id: SessionId
    name: str
    changed_at: int


class ProgramStateStore(Protocol):
    def put(
        self,
        namespace: Namespace,
        session_id: SessionId,
        shelf: str,
        values: Mapping[str, Any],
        *,
        at: int,
        replace: bool = True,
    ) -> frozenset[str]:
        """Keep values by name, all or none; names of those that were written. A name that is there gets the new value and keeps
        its place in the order of arrival; without ``replace`` it keeps what it has. Times of a shelf never go back: each change has a
        later one than the last.

        Raises NotFound for an unknown session."""
        ...

    def names(self, namespace: Namespace, session_id: SessionId, shelf: str, prefix: str = "") -> list[str]:
        """In order of arrival."""
        ...

    def get(
        self, namespace: Namespace, session_id: SessionId, shelf: str, names: Collection[str] | None = None
    ) -> dict[str, Any]:
        """Those that are there, all for ``None``, in order of arrival."""
        ...

    def shelves(self, namespace: Namespace, prefix: str) -> list[Shelf]:
        """Whose names begin so and that hold something, by name."""
        ...

    def remove(
        self, namespace: Namespace, session_id: SessionId, shelf: str, names: Collection[str] | None = None, *, at: int
    ) -> int:
        """All of the shelf for ``None``; how many there were."""
        ...
