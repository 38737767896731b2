"""Versions of a session's saved state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ovillo.model.errors import Conflict, NotFound
from ovillo.model.records import Namespace, SessionId
from ovillo.model.sessions import Snapshot
from ovillo.store.protocol import EncodedSnapshot
from ovillo.store.protocol.snapshots import MAX_DELTAS
from tests.store.memory.substore import SubStore

Versions = dict[int, tuple[Snapshot, bytes]]


class Snapshots(SubStore):
    def add(self, namespace: Namespace, session_id: SessionId, encoded: EncodedSnapshot, *, at: int) -> Snapshot:
        with self._state.writing_to(namespace) as space:
            if session_id not in space.sessions:
                raise NotFound(f"No session {session_id!r}.", hint="List sessions, or create it first.")
            saved = space.sessions[session_id].snapshots
            if encoded.base is not None and not _may_rest_on(saved, encoded.base, encoded.base_checksum):
                raise Conflict(
                    f"Version {encoded.base} of session {session_id!r} cannot carry another delta.",
                    hint="Save the state as a keyframe.",
                )
            version = max(saved, default=0) + 1
            snapshot = Snapshot(
                version,
                at,
                encoded.level,
                encoded.base,
                encoded.plain_bytes,
                len(encoded.data),
                encoded.checksum,
            )
            saved[version] = snapshot, encoded.data
            space.log("snapshot", [session_id], at)
            return snapshot

    def versions(
        self, namespace: Namespace, session_id: SessionId, *, before: int | None = None, limit: int
    ) -> list[Snapshot]:
        saved = self._saved(namespace, session_id)
        versions = sorted((each for each in saved if before is None or each < before), reverse=True)
        return [saved[version][0] for version in versions[:limit]]

    def count(self, namespace: Namespace, session_id: SessionId) -> int:
        return len(self._saved(namespace, session_id))

    def chain(
        self, namespace: Namespace, session_id: SessionId, version: int | None = None
    ) -> list[tuple[Snapshot, bytes]]:
        saved = self._saved(namespace, session_id)
        return _chain(saved, max(saved, default=0) if version is None else version)

    def rewrite(self, namespace: Namespace, session_id: SessionId, rewritten: Mapping[int, EncodedSnapshot]) -> bool:
        with self._state.writing_to(namespace) as space:
            saved = space.sessions[session_id].snapshots if session_id in space.sessions else {}
            wanted = {version: encoded.checksum for version, encoded in rewritten.items()}
            bases = {encoded.base: encoded.base_checksum for encoded in rewritten.values() if encoded.base is not None}
            if not all(_is_state(saved, *each) for each in (*wanted.items(), *bases.items())):
                return False
            for version, encoded in rewritten.items():
                known = saved[version][0]
                size = len(encoded.data)
                saved[version] = (
                    replace(known, level=encoded.level, base=encoded.base, stored_bytes=size),
                    encoded.data,
                )
            return True

    def replace(
        self, namespace: Namespace, session_id: SessionId, version: int, checksum: bytes, encoded: EncodedSnapshot
    ) -> bool:
        with self._state.writing_to(namespace) as space:
            saved = space.sessions[session_id].snapshots if session_id in space.sessions else {}
            if not _is_state(saved, version, checksum) or any(row.base == version for row, _ in saved.values()):
                return False
            known, size = saved[version][0], len(encoded.data)
            facts = Snapshot(version, known.saved_at, encoded.level, None, encoded.plain_bytes, size, encoded.checksum)
            saved[version] = facts, encoded.data
            return True

    def resting_on(self, namespace: Namespace, session_id: SessionId, version: int) -> list[Snapshot]:
        saved = self._saved(namespace, session_id)
        return [row for _, (row, _) in sorted(saved.items()) if row.base == version]

    def sessions(self, namespace: Namespace) -> list[SessionId]:
        return [session_id for session_id, kept in self._state.space(namespace).sessions.items() if kept.snapshots]

    def _saved(self, namespace: Namespace, session_id: SessionId) -> Versions:
        kept = self._state.space(namespace).sessions.get(session_id)
        return kept.snapshots if kept else {}


def _chain(saved: Versions, version: int | None) -> list[tuple[Snapshot, bytes]]:
    if version not in saved:
        return []
    snapshot = saved[version][0]
    return [*(_chain(saved, snapshot.base) if snapshot.base is not None else ()), saved[version]]


def _is_state(saved: Versions, version: int, checksum: bytes | None) -> bool:
    return version in saved and saved[version][0].checksum == checksum


def _may_rest_on(saved: Versions, base: int, checksum: bytes | None) -> bool:
    return _is_state(saved, base, checksum) and len(_chain(saved, base)) <= MAX_DELTAS
