"""Keeping the audit: a log that only grows at its end and loses only its beginning, with each entry chained to the last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from ovillo.model.audit import AuditCheck, AuditEntry, AuditRecord
from ovillo.model.records import Namespace


class AuditStore(Protocol):
    def add(self, namespace: Namespace, entries: Sequence[AuditEntry]) -> None:
        """Put at the end, in order, by whichever process: one chain for the whole store."""
        ...

    def entries(
        self, namespace: Namespace, *, session_id: str | None = None, before: int | None = None, limit: int = 100
    ) -> list[AuditRecord]:
        """Newest first; ``before`` is the ``seq`` to go on from."""
        ...

    def chain(self) -> Iterator[AuditRecord]:
        """All of it, oldest first, of every namespace: a chain is checked whole or not at all."""
        ...

    def check(self) -> AuditCheck:
        """Compute the chain again and compare."""
        ...

    def drop(self, before: int) -> int:
        """Forget entries older than ``before`` (milliseconds), from the beginning only; how many. The chain of what
        stays holds on to the last one that went."""
        ...
