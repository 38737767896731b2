"""Masking again, in place, what was recorded here under fewer rules for secrets.

Owns going through recorded sessions once when the rules have become others, newest first, and going on where that was
ended; mirrored sessions are read again from their sources (``ingest.versions``).
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ovillo.model.live import NATIVE, Masked
from ovillo.model.records import Namespace, SessionDelta
from ovillo.model.sessions import SessionFilter, SessionRow

if TYPE_CHECKING:
    from ovillo.security.redaction import Redactor
    from ovillo.store.protocol import Store

#: Sessions listed, and messages masked, at once.
_SESSIONS, _MESSAGES = 50, 200


class Masking:
    def __init__(self, store: Store, redactor: Redactor) -> None:
        self._store = store
        self._redactor = redactor

    def waiting(self) -> list[Namespace]:
        """Those with recorded sessions that may still be masked by fewer rules."""
        recorded = SessionFilter(source=NATIVE)
        return [
            namespace
            for namespace in self._store.sessions.namespaces()
            if not self.is_done(namespace) and self._store.sessions.find(namespace, recorded, 1)
        ]

    def is_done(self, namespace: Namespace) -> bool:
        return self._store.recording.masked(namespace) == Masked(self._redactor.rules)

    def run(self, namespace: Namespace, stop: threading.Event | None = None) -> int:
        """How many messages and sessions were changed. ``stop`` ends it between two sessions."""
        done = self._store.recording.masked(namespace)
        rules = self._redactor.rules
        if done.rules > rules:
            # What is recorded from now on is masked by fewer.
            self._store.recording.note_masked(namespace, Masked(rules))
            return 0
        changed = 0
        after = done.after if done.towards == rules else None
        while done.rules < rules:
            rows = self._store.sessions.find(namespace, SessionFilter(source=NATIVE), _SESSIONS, after)
            for row in rows:
                if stop is not None and stop.is_set():
                    return changed
                changed += self._mask(namespace, row)
                after = (row.session.updated_at or 0, row.session.id)
                self._store.recording.note_masked(namespace, Masked(done.rules, rules, after))
            if len(rows) < _SESSIONS:
                done = Masked(rules)
                self._store.recording.note_masked(namespace, done)
        return changed

    def _mask(self, namespace: Namespace, row: SessionRow) -> int:
        changed, last = self._apply(namespace, SessionDelta(row.session)), None
        while messages := self._store.sessions.messages(namespace, row.session.id, after_seq=last, limit=_MESSAGES):
            last = messages[-1].seq
            told = [one for one in messages if self._redactor.redact_message(one) is not one]
            if told:
                changed += self._apply(namespace, SessionDelta(row.session, tuple(told)))
        return changed

    def _apply(self, namespace: Namespace, delta: SessionDelta) -> int:
        clean, _ = self._redactor.redact_delta(delta)
        if clean is delta:
            return 0
        self._store.ingest.apply(namespace, [clean])
        return max(1, len(clean.messages))
