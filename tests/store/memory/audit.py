"""The audit: a list, and what was dropped from its beginning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from secrets import token_bytes

from ovillo.model.audit import AuditCheck, AuditEntry, AuditRecord
from ovillo.model.records import Namespace
from ovillo.store.audit_chain import SECRET, chained, checked, readable
from tests.store.memory.substore import SubStore


class Audit(SubStore):
    def add(self, namespace: Namespace, entries: Sequence[AuditEntry]) -> None:
        with self._state.writing() as tables:
            secret = tables.secrets.setdefault(SECRET, token_bytes(32))
            for entry in map(readable, entries):
                before = tables.audit[-1] if tables.audit else None
                seq, chain = (before.seq, before.chain) if before else tables.audit_dropped
                chain = chained(secret, chain, seq + 1, namespace, entry)
                tables.audit.append(AuditRecord(seq + 1, namespace, entry, chain))

    def entries(
        self, namespace: Namespace, *, session_id: str | None = None, before: int | None = None, limit: int = 100
    ) -> list[AuditRecord]:
        found = [
            record
            for record in reversed(self._state.tables.audit)
            if record.namespace == namespace
            and session_id in (None, record.entry.session_id)
            and (before is None or record.seq < before)
        ]
        return found[:limit]

    def chain(self) -> Iterator[AuditRecord]:
        return iter(self._state.tables.audit)

    def check(self) -> AuditCheck:
        tables = self._state.tables
        return checked(tables.secrets.get(SECRET, b""), *tables.audit_dropped, tables.audit)

    def drop(self, before: int) -> int:
        with self._state.writing() as tables:
            stays = [at for at, record in enumerate(tables.audit) if record.entry.at >= before]
            count = stays[0] if stays else len(tables.audit)
            if count:
                last = tables.audit[count - 1]
                tables.audit_dropped = last.seq, last.chain
                tables.audit = tables.audit[count:]
            return count
