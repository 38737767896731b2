"""Which engine keeps the data. Beside ``embedded``, the only module outside an engine's package that names one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ovillo.model.clock import Clock, system_clock

if TYPE_CHECKING:
    from ovillo.store.protocol import Analyzer, Store


def open_store(location: Path, analyzer: Analyzer, clock: Clock = system_clock) -> Store:
    """Opens or creates the database at ``location``, which is a file. Raises StoreUnavailable, IntegrityError."""
    from ovillo.store.sqlite import SqliteStore  # another engine is not loaded

    return SqliteStore(location, analyzer, clock)
