"""Brings what readers find into the store, once, and says how current the store is. (Being written.)"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from ovillo.ingest.reports import ScanProgress, ScanReport, SourceReport
from ovillo.model.records import Namespace, SessionId
from ovillo.readers.protocol import Place


class Ingest:
    def places(self) -> list[Place]:
        """Places of all readers that exist now."""
        raise NotImplementedError

    def sources(self) -> list[SourceReport]:
        """Every place known or found now, each damaged record once."""
        raise NotImplementedError

    def scan(
        self, progress: Callable[[ScanProgress], None] | None = None, readers: Sequence[str] | None = None
    ) -> ScanReport:
        """Read everything new of all places (or of some readers), in order. Waits for nobody: ``busy`` if another
        process scans."""
        raise NotImplementedError

    def catch_up(self, namespace: Namespace, session_id: SessionId, budget_ms: int = 50) -> bool:
        """Read what is new of one session; ``False`` when the budget ended first."""
        raise NotImplementedError

    def watch(self, stop: threading.Event, on_change: Callable[[ScanReport], None] | None = None) -> None:
        """Scan, then keep scanning what changes until ``stop`` is set. Runs in a thread of its own."""
        raise NotImplementedError

    def indexed_through(self) -> int | None:
        """Time of the newest scan that finished, milliseconds."""
        raise NotImplementedError

    def pending(self) -> tuple[str, ...]:
        """What is known not to be indexed yet, for people; empty when all is."""
        raise NotImplementedError
