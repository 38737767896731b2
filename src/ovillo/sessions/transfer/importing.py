"""Importing a session: the file is read, checked, cleaned of secrets and stored whole, or nothing changes.

Owns the order of these steps and what is told afterwards. An imported session is a native one: it can be gone on with.
Nothing is summarised here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ovillo.model.clock import Clock
from ovillo.model.records import Namespace, SessionDelta
from ovillo.model.sessions import SessionRow
from ovillo.security.redaction import Redactor
from ovillo.sessions.transfer.building import Built, build
from ovillo.sessions.transfer.documents import parse

if TYPE_CHECKING:
    from ovillo.store.protocol import ImportStore


@dataclass(frozen=True, slots=True)
class Imported:
    """``redactions``: secrets that were masked before storing, by kind."""

    row: SessionRow
    messages: int
    parts: int
    redactions: Mapping[str, int]


class ImportService:
    def __init__(self, store: ImportStore, redactor: Redactor, clock: Clock) -> None:
        self._store = store
        self._redactor = redactor
        self._clock = clock

    def import_session(self, namespace: Namespace, text: str | bytes, *, name: str | None = None) -> Imported:
        """A new session out of an export, ours or another program's, or of turns as JSON lines.

        ``name`` is used where the file has none. Raises InvalidInput naming the path, LimitExceeded past 64 MiB or what
        a session can have, StoreUnavailable; nothing has changed then."""
        built = build(parse(text), namespace, name, self._clock)
        clean, counts = self._clean(built)
        row = self._store.import_session(
            namespace, clean.session, clean.messages, clean.summaries, at=clean.session.created_at or self._clock()
        )
        return Imported(row, len(clean.messages), sum(len(message.parts) for message in clean.messages), counts)

    def _clean(self, built: Built) -> tuple[Built, Mapping[str, int]]:
        delta, counts = self._redactor.redact_delta(SessionDelta(built.session, built.messages))
        found = dict(counts)
        summaries = []
        for summary in built.summaries:
            text, more = self._redactor.redact(summary.text)
            summaries.append(summary if text is summary.text else replace(summary, text=text))
            for kind, number in more.items():
                found[kind] = found.get(kind, 0) + number
        return Built(delta.session, delta.messages, tuple(summaries)), found
