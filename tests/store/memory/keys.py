"""API keys."""

from __future__ import annotations

from dataclasses import replace

from ovillo.model.errors import Conflict, NotFound
from ovillo.model.records import Namespace
from ovillo.security.keys import AccessKey
from ovillo.store.merging import least, most
from tests.store.memory.stored import stored
from tests.store.memory.substore import SubStore


class Keys(SubStore):
    def add_key(self, key: AccessKey) -> None:
        with self._state.writing() as tables:
            if key.id in tables.keys:
                raise Conflict(f"There is a key {key.id} already.", hint="Create it again.")
            tables.keys[key.id] = stored(key)

    def get_key(self, key_id: str) -> AccessKey | None:
        return self._state.tables.keys.get(key_id)

    def list_keys(self, namespace: Namespace | None = None) -> list[AccessKey]:
        found = [key for key in self._state.tables.keys.values() if namespace in (None, key.namespace)]
        return sorted(found, key=lambda key: (key.created_at, key.id))

    def end_key(self, key_id: str, *, revoked_at: int | None = None, expires_at: int | None = None) -> AccessKey:
        with self._state.writing() as tables:
            key = tables.keys.get(key_id)
            if key is None:
                raise NotFound(f"No key {key_id!r}.", hint="`ovillo key list` shows ids and names.")
            first = revoked_at if key.revoked_at is None else key.revoked_at
            tables.keys[key_id] = replace(key, revoked_at=first, expires_at=least(key.expires_at, expires_at))
            return tables.keys[key_id]

    def note_key_used(self, key_id: str, at: int) -> None:
        with self._state.writing() as tables:
            if key := tables.keys.get(key_id):
                tables.keys[key_id] = replace(key, last_used_at=most(key.last_used_at, at))
