"""``pytest -p tests.store.memory.plugin``: services and interfaces of this process run on the memory store.

What fails then either wants a file, damages one, or starts other processes, or leans on an engine without the protocol
saying so. Stores of one location share what they keep, until the test ends.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ovillo.model.clock import Clock, system_clock
from ovillo.store import engine
from ovillo.store.protocol import Analyzer, Store
from tests.store.memory.state import State
from tests.store.memory.store import MemoryStore

_kept: dict[Path, State] = {}


def open_store(location: Path, analyzer: Analyzer, clock: Clock = system_clock) -> Store:
    state = _kept.setdefault(location, State(analyzer, clock))
    state.is_closed = False
    return MemoryStore(analyzer, clock, state)


engine.open_store = open_store
#: Whoever asks for the other engine by name fails.
sys.modules["ovillo.store.sqlite"] = None  # type: ignore[assignment]  # what the import system takes for "not there"


def pytest_runtest_teardown() -> None:
    _kept.clear()
