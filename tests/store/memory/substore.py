"""What all sub-stores begin with."""

from __future__ import annotations

from tests.store.memory.state import State


class SubStore:
    def __init__(self, state: State) -> None:
        self._state = state
