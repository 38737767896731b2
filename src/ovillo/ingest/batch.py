"""Gathering a reader's records into transactions of a useful size.

Owns when to write: at checkpoints once enough has come together, and in between when one file alone is large.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from ovillo.model.records import Namespace, SessionDelta, SkippedRecord
from ovillo.readers.protocol import Place
from ovillo.store.protocol import Applied, Store

#: Redacts one delta and counts what it masked, by kind.
Redact = Callable[[SessionDelta], tuple[SessionDelta, Mapping[str, int]]]

#: Parts in one transaction: large enough to spread its cost, small enough to keep memory and other writers' waits low.
_PARTS = 3_000
_CHARACTERS = 6_000_000
#: Transactions handed to the writer and not yet committed.
_IN_FLIGHT = 2


class Batch:
    """Records of one place on their way to the store."""

    def __init__(self, store: Store, namespace: Namespace, place: Place, redact: Redact) -> None:
        self._store = store
        self._namespace = namespace
        self._place = place
        self._redact = redact
        self._deltas: list[SessionDelta] = []
        self._skipped: list[SkippedRecord] = []
        self._cursor: dict[str, Any] = {}
        self._redactions: Counter[str] = Counter()
        self._parts = self._characters = 0
        self._waiting: deque[Future[Applied]] = deque()
        self.applied = Applied()
        self.skipped = 0

    def add(self, delta: SessionDelta) -> None:
        clean, counts = self._redact(delta)
        self._redactions.update(counts)
        self._deltas.append(clean)
        for message in clean.messages:
            self._parts += len(message.parts) + 1
            for part in message.parts:
                self._characters += len(part.text) + len((part.tool and part.tool.output) or "")
        if self._parts > 2 * _PARTS or self._characters > 2 * _CHARACTERS:
            self._write(cursor=None)

    def skip(self, record: SkippedRecord) -> None:
        self._skipped.append(record)
        self.skipped += 1

    def checkpoint(self, cursor: Mapping[str, Any]) -> None:
        self._cursor.update(cursor)
        if self._parts > _PARTS or self._characters > _CHARACTERS or len(self._cursor) > 2_000:
            self._write(cursor=self._cursor)
            self._cursor = {}

    def finish(self) -> Applied:
        """Write what is left and wait until everything is committed."""
        if self._deltas or self._skipped or self._cursor:
            self._write(cursor=self._cursor)
        while self._waiting:
            self._collect()
        return self.applied

    def _write(self, cursor: Mapping[str, Any] | None) -> None:
        while len(self._waiting) >= _IN_FLIGHT:
            self._collect()
        self._waiting.append(
            self._store.submit(
                self._namespace,
                self._deltas,
                place=(self._place.reader, str(self._place.path)),
                precedence=self._place.precedence,
                cursor=cursor,
                skipped=self._skipped,
                redactions=self._redactions,
            )
        )
        self._deltas, self._skipped, self._redactions = [], [], Counter()
        self._parts = self._characters = 0

    def _collect(self) -> None:
        self.applied = self.applied + self._waiting.popleft().result()
