"""Removing for good, and marks of what was removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from secrets import token_bytes

from ovillo.model.errors import Conflict
from ovillo.model.records import Namespace, Session, SessionId
from ovillo.model.tombstones import Forgettable, Tombstone, is_covered, mark_of
from ovillo.store.protocol import Traces
from tests.store.memory.memories import drop_memories_of
from tests.store.memory.removal import remove_session
from tests.store.memory.state import Mark, Space, StoredSource, Tables
from tests.store.memory.substore import SubStore

_KEY = "forgetting"


class Forgetting(SubStore):
    def traces(self, namespace: Namespace, session_ids: Sequence[SessionId]) -> Traces:
        space = self._state.space(namespace)
        chosen = [space.sessions[each] for each in set(session_ids) if each in space.sessions]
        return Traces(
            sessions=len(chosen),
            messages=sum(len(kept.messages) for kept in chosen),
            parts=sum(len(message.parts) for kept in chosen for message in kept.messages.values()),
            summaries=sum(len(kept.summaries) for kept in chosen),
            snapshots=sum(len(kept.snapshots) for kept in chosen),
            links=sum(from_id in session_ids or to_id in session_ids for from_id, to_id, _ in space.links),
            tasks=sum(task.session_id in session_ids for task in space.tasks.values()),
            forks=sum(
                kept.session.forked_from in session_ids and kept.session.id not in session_ids
                for kept in space.sessions.values()
            ),
            memories=sum(memory.provenance.session_id in session_ids for memory in space.memories.values()),
        )

    def forget_session(
        self, namespace: Namespace, session_id: SessionId, *, at: int, part_of: Tombstone | None = None
    ) -> bool:
        with self._state.writing() as tables:
            space = tables.space(namespace)
            key = tables.secrets.setdefault(_KEY, token_bytes(32))
            mark = mark_of(key, Forgettable.SESSION, session_id)
            space.forgotten[Forgettable.SESSION, mark] = Mark(at, part_of.mark if part_of else None)
            tables.is_wipe_due |= drop_memories_of(space, session_id, at) > 0
            if session_id not in space.sessions:
                return False
            remove_session(self._state, space, session_id)
            tables.is_wipe_due = True
            # Who follows changes reads the list again; an id would be what is not to stay.
            space.log("session_deleted", [f"forgotten:{mark.hex()}"], at)
            return True

    def put_tombstone(self, namespace: Namespace, tombstone: Tombstone) -> None:
        with self._state.writing_to(namespace) as space:
            space.forgotten[tombstone.kind, tombstone.mark] = Mark(tombstone.at)

    def forget_tasks(self, namespace: Namespace, directory: str) -> int:
        with self._state.writing() as tables:
            space = tables.space(namespace)
            below = [x.id for x in space.tasks.values() if f"{x.directory or ''}/".startswith(f"{directory}/")]
            for name in below:
                del space.tasks[name]
            tables.is_wipe_due |= bool(below)
            return len(below)

    def tombstones(self, namespace: Namespace) -> list[Tombstone]:
        marks = self._state.space(namespace).forgotten
        went_with = [mark.part_of for mark in marks.values()]
        stones = [
            Tombstone(kind, name, mark.at, went_with.count(name))
            for (kind, name), mark in marks.items()
            if mark.part_of is None
        ]
        return sorted(stones, key=lambda stone: (-stone.at, stone.mark))

    def all_marks(self, namespace: Namespace) -> Mapping[str, Mapping[bytes, int]]:
        marks: dict[str, dict[bytes, int]] = {}
        for (kind, name), mark in self._state.space(namespace).forgotten.items():
            marks.setdefault(kind.value, {})[name] = mark.at
        return marks

    def lift_tombstones(self, namespace: Namespace, marks: Sequence[bytes], dropping: Sequence[str] = ()) -> int:
        with self._state.writing_to(namespace) as space:
            lifted = [key for key, mark in space.forgotten.items() if key[1] in marks or mark.part_of in marks]
            for key in lifted:
                del space.forgotten[key]
            for source in space.sources.values():
                _read_again(source, dropping)
            return len(lifted)

    def key(self) -> bytes | None:
        return self._state.tables.secrets.get(_KEY)

    def wipe_is_due(self) -> bool:
        return self._state.tables.is_wipe_due

    def wipe(self) -> str | None:
        with self._state.writing() as tables:
            tables.is_wipe_due = False
        return None

    # --- what is not read

    def excluded(self, namespace: Namespace) -> dict[tuple[str, str], dict[str, tuple[bytes, int]]]:
        found: dict[tuple[str, str], dict[str, tuple[bytes, int]]] = {}
        for name, source in self._state.space(namespace).sources.items():
            for rule, said in source.excluded.values():
                if rule:
                    of_source = found.setdefault(name, {})
                    of_source[rule] = said, of_source.get(rule, (said, 0))[1] + 1
        return found

    def excluded_marks(self, namespace: Namespace, reader: str, path: str) -> dict[bytes, tuple[str, bytes]]:
        source = self._state.space(namespace).sources.get((reader, path))
        return dict(source.excluded) if source else {}

    def note_excluded(
        self, namespace: Namespace, reader: str, path: str, found: Sequence[tuple[str, bytes, bytes]]
    ) -> None:
        with self._state.writing_to(namespace) as space:
            if source := space.sources.get((reader, path)):
                source.excluded |= {mark: (rule, said) for rule, said, mark in found}

    def read_source_again(self, namespace: Namespace, reader: str, path: str, dropping: Sequence[str] = ()) -> None:
        with self._state.writing_to(namespace) as space:
            if source := space.sources.get((reader, path)):
                _read_again(source, dropping)


def is_forgotten(tables: Tables, space: Space, session: Session, *kinds: Forgettable) -> bool:
    """Of these kinds, or of any."""
    known = {kind for kind, _ in space.forgotten if not kinds or kind in kinds}
    return is_covered(session, tables.secrets.get(_KEY, b""), known, partial(_at, space))


def check_not_forgotten(tables: Tables, space: Space, session: Session) -> None:
    if is_forgotten(tables, space, session, Forgettable.SESSION):
        raise Conflict(
            f"The session {session.id!r} was forgotten for good.",
            hint="Use another id, or allow it again with `ovillo forget undo`.",
        )


def _at(space: Space, kind: Forgettable, mark: bytes) -> int | None:
    known = space.forgotten.get((kind, mark))
    return known.at if known else None


def _read_again(source: StoredSource, dropping: Sequence[str]) -> None:
    source.cursor = {name: value for name, value in source.cursor.items() if not name.startswith(tuple(dropping))}
    source.excluded = {}
