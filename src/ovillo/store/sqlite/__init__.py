"""The embedded store: SQLite in one file.

Owns ``open_store``; nothing outside this package speaks SQL to ovillo's database.
"""

from __future__ import annotations

from pathlib import Path

from ovillo.model.clock import Clock, system_clock
from ovillo.store.protocol import Analyzer
from ovillo.store.sqlite.store import SqliteStore


def open_store(path: Path, analyzer: Analyzer, clock: Clock = system_clock) -> SqliteStore:
    """Open or create the database. Raises StoreUnavailable, IntegrityError."""
    return SqliteStore(path, analyzer, clock)


__all__ = ["SqliteStore", "open_store"]
