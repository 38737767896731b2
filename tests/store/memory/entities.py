"""Entities of sessions: every sighting is kept, and counted when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from ovillo.model.conclusions import ConcludedAt, Conclusion
from ovillo.model.entities import (
    NO_EVIDENCE,
    Discussion,
    EntityType,
    Evidence,
    KnownEntity,
    Mention,
    SessionEntity,
    Sighting,
)
from ovillo.model.records import Message, Namespace, Part, PartType, SessionId, ToolStatus
from ovillo.model.sessions import SessionFilter
from ovillo.model.tool_arguments import EDITING_TOOLS
from ovillo.model.touched_files import touched_paths
from ovillo.store.protocol import DocId, TrackedPart, TrackedRange, TrackState
from tests.store.memory.filters import is_file, passes
from tests.store.memory.state import Document, StoredSession
from tests.store.memory.stored import stored
from tests.store.memory.substore import SubStore

#: Of the places where a session names an entity, so many are told from the beginning and from the end.
_FIRST, _LAST = 3, 9
_TOUCHES = 6

Name = tuple[EntityType, str, str]


class Entities(SubStore):
    def untracked(self, namespace: Namespace, limit: int) -> list[SessionId]:
        waiting = [kept for kept in self._with_text(namespace) if not _state(kept).is_current or not kept.tracked]
        return [kept.session.id for kept in sorted(waiting, key=_newest_first)[:limit]]

    def track_state(self, namespace: Namespace, session_id: SessionId) -> TrackState | None:
        kept = self._state.space(namespace).sessions.get(session_id)
        return _state(kept) if kept else None

    def parts_to_track(self, namespace: Namespace, session_id: SessionId, after: int, limit: int) -> list[TrackedPart]:
        kept = self._state.space(namespace).sessions.get(session_id)
        found = [
            TrackedPart(document.id, document.recency, message.role, part)
            for message, part, document in (kept.parts() if kept else ())
            if document.recency > after and message.inherited_from is None
        ]
        return sorted(found, key=lambda tracked: tracked.mark)[:limit]

    def put_tracked(self, namespace: Namespace, session_id: SessionId, tracked: TrackedRange) -> bool:
        with self._state.writing_to(namespace) as space:
            kept = space.sessions.get(session_id)
            if (
                kept is None
                or _state(kept).settled != tracked.began.settled
                or _state(kept).through != tracked.began.through
            ):
                return False
            marks = {document.id: document.recency for _, _, document in kept.parts()}
            settled = [seen for seen in kept.sightings if marks.get(seen[0], 0) <= tracked.began.settled]
            found = [(doc, stored(seen), tail) for (doc, seen), tail in zip(tracked.found, tracked.tails, strict=True)]
            kept.sightings = [*settled, *found]
            before = [seen for seen in kept.concluded if marks.get(seen[0], 0) <= tracked.began.settled]
            kept.concluded = [*before, *tracked.concluded]
            kept.tracked = tracked.settled, tracked.through, tracked.characters
            return True

    def conclusions(
        self, namespace: Namespace, where: SessionFilter, kinds: Conclusion, limit: int
    ) -> list[tuple[DocId, ConcludedAt]]:
        found = []
        for kept in self._with_text(namespace):
            marks = {document.id: document.recency for _, _, document in kept.parts()}
            if passes(kept, where):
                found += [(marks[doc], doc, place) for doc, place in kept.concluded if place.kinds & kinds]
        found.sort(key=lambda seen: (-seen[0], seen[2].start))
        return [(doc, place) for _, doc, place in found[:limit]]

    def of_session(
        self, namespace: Namespace, session_id: SessionId, *, types: Sequence[EntityType] = (), limit: int = 500
    ) -> list[SessionEntity]:
        kept = self._state.space(namespace).sessions.get(session_id)
        found = [_entity(kept, name) for name in _names(kept) if not types or name[0] in types] if kept else []
        return sorted(found, key=lambda entity: -max((mention.seq for mention in entity.mentions), default=0))[:limit]

    def known(
        self,
        namespace: Namespace,
        tail: str,
        *,
        types: Sequence[EntityType] = (),
        prefix: bool = False,
        limit: int = 50,
    ) -> list[KnownEntity]:
        naming: dict[Name, list[StoredSession]] = {}
        for kept in self._with_text(namespace):
            for name in _names(kept):
                if (name[2].startswith(tail) if prefix else name[2] == tail) and (not types or name[0] in types):
                    naming.setdefault(name, []).append(kept)
        found = [_known(name, sessions) for name, sessions in naming.items()]
        return sorted(found, key=lambda entity: (-entity.sessions, entity.name))[:limit]

    def discussions(
        self,
        namespace: Namespace,
        names: Sequence[Name],
        *,
        limit: int,
        session_ids: Sequence[SessionId] = (),
    ) -> list[Discussion]:
        found = [
            Discussion(kept.session.id, _entity(kept, name))
            for kept in sorted(self._with_text(namespace), key=_newest_first)
            if not session_ids or kept.session.id in session_ids
            for name in _names(kept)
            if name in names
        ]
        return found[:limit]

    def discussing(self, namespace: Namespace, names: Sequence[Name]) -> set[SessionId]:
        return {kept.session.id for kept in self._with_text(namespace) if not set(names).isdisjoint(_names(kept))}

    def sessions_touching(self, namespace: Namespace, path: str, *, limit: int) -> list[Discussion]:
        found = [
            Discussion(kept.session.id, entity)
            for kept in sorted(self._with_text(namespace), key=_newest_first)
            for entity in _touched(kept)
            if is_file(entity.name, path)
        ]
        return found[:limit]

    def tickets_of_changes(self, namespace: Namespace, root: str, most: int = 3) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for kept in self._with_text(namespace):
            entities = [_entity(kept, name) for name in _names(kept) if name[0] is EntityType.TICKET]
            tickets = {x.name for x in entities if x.evidence & (Evidence.SAID | Evidence.ANSWERED)}
            for entity in _touched(kept) if 0 < len(tickets) <= most else ():
                path = PurePosixPath(kept.session.directory or "/", entity.name.replace("\\", "/"))
                if entity.was_changed and path.is_relative_to(root):
                    found.setdefault(path.relative_to(root).as_posix(), set()).update(tickets)
        return found

    def touched(self, namespace: Namespace, session_id: SessionId, limit: int) -> list[SessionEntity]:
        kept = self._state.space(namespace).sessions.get(session_id)
        return _touched(kept)[:limit] if kept else []

    def tracked_share(self, namespace: Namespace) -> tuple[int, int]:
        sessions = self._with_text(namespace)
        read = [kept for kept in sessions if kept.tracked and _state(kept).through >= _state(kept).last]
        return len(read), len(sessions)

    def _with_text(self, namespace: Namespace) -> list[StoredSession]:
        return [kept for kept in self._state.space(namespace).sessions.values() if next(kept.parts(), None)]


def _newest_first(kept: StoredSession) -> tuple[int, str]:
    return -(kept.session.updated_at or 0), kept.session.id


def _state(kept: StoredSession) -> TrackState:
    last = max((document.recency for _, _, document in kept.parts()), default=0)
    return TrackState(*(kept.tracked or (0, 0, 0)), kept.characters(), last, kept.session.directory)


def _names(kept: StoredSession) -> list[Name]:
    """Each once, in the order in which they were first seen."""
    return list(dict.fromkeys((seen.type, seen.name, tail) for _, seen, tail in kept.sightings))


def _seen(kept: StoredSession, name: Name) -> list[tuple[DocId, Sighting]]:
    return [(doc, seen) for doc, seen, tail in kept.sightings if (seen.type, seen.name, tail) == name]


def _entity(kept: StoredSession, name: Name) -> SessionEntity:
    found = _seen(kept, name)
    evidence = NO_EVIDENCE
    for _, seen in found:
        evidence |= seen.evidence
    # Several times in one part is one place.
    first = dict(reversed(found))
    standing = [(*place, first[place[2].id]) for place in _by_arrival(kept) if place[2].id in first]
    told = standing if len(standing) <= _FIRST + _LAST else [*standing[:_FIRST], *standing[-_LAST:]]
    lines = [seen.line for *_, seen in told if seen.line]
    return SessionEntity(
        name[0],
        name[1],
        len(found),
        tuple(_mention(message, part, seen.offset, seen.line) for message, part, _, seen in told),
        (),
        next((seen.file for _, seen in found if seen.file), None),
        (min(lines), max(lines)) if lines else None,
        evidence,
    )


def _known(name: Name, sessions: list[StoredSession]) -> KnownEntity:
    entities = [_entity(kept, name) for kept in sessions]
    evidence = NO_EVIDENCE
    for entity in entities:
        evidence |= entity.evidence
    last = max((kept.session.updated_at for kept in sessions if kept.session.updated_at is not None), default=None)
    return KnownEntity(name[0], name[1], len(sessions), sum(each.count for each in entities), last, evidence)


def _touched(kept: StoredSession) -> list[SessionEntity]:
    """Newest first."""
    touches: dict[str, list[tuple[Message, Part]]] = {}
    for message, part, _ in _by_arrival(kept):
        for path in touched_paths(part):
            touches[path] = [*touches.pop(path, ()), (message, part)]
    found = []
    for path, places in reversed(touches.items()):
        changed = Evidence.CHANGED if any(_edits(part) for _, part in places) else NO_EVIDENCE
        mentions = tuple(_mention(message, part, 0, None) for message, part in places[-_TOUCHES:])
        evidence = Evidence.CALLED | Evidence.MARKED | changed
        found.append(SessionEntity(EntityType.FILE, path, len(places), mentions, evidence=evidence))
    return found


def _by_arrival(kept: StoredSession) -> Iterator[tuple[Message, Part, Document]]:
    yield from sorted(kept.parts(), key=lambda place: place[2].recency)


def _edits(part: Part) -> bool:
    done = part.tool is not None and part.tool.status is ToolStatus.COMPLETED
    return part.type is PartType.PATCH or (done and part.tool is not None and part.tool.name.lower() in EDITING_TOOLS)


def _mention(message: Message, part: Part, offset: int, line: int | None) -> Mention:
    at = part.created_at or message.created_at
    return Mention(message.seq, message.role, at, offset, message.id, part.id, line)
