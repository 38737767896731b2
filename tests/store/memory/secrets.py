"""Random secrets."""

from __future__ import annotations

from secrets import token_bytes

from tests.store.memory.substore import SubStore


class Secrets(SubStore):
    def get(self, name: str) -> bytes:
        with self._state.writing() as tables:
            return tables.secrets.setdefault(name, token_bytes(32))
