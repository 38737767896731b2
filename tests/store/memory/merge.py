"""Merging deltas into one namespace, within a transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ovillo.model.records import (
    Message,
    Namespace,
    Part,
    Session,
    SessionDelta,
    SessionId,
    SessionKind,
    SessionStatus,
    ToolResult,
)
from ovillo.store.merging import answered, least, merged_message, merged_part, most
from ovillo.store.ordering import renumbered
from ovillo.store.protocol import Applied
from tests.store.memory.apart import session_of
from tests.store.memory.state import SourceName, Space, State, StoredSession

#: Of these the newer of two sources has the word; the rest is merged one by one.
_FACTS = (
    *("source_id", "project_id", "directory", "worktree", "git_branch", "title", "slug", "parent_id", "forked_from"),
    *("fork_point", "kind", "agent", "model", "provider", "type", "status", "version", "additions", "deletions"),
    *("files_changed", "summary", "modes", "active_files"),
)
#: What clients write that do not say how a session stands: what was told of it since stays.
_UNSAID = {"kind": SessionKind.ROOT, "status": SessionStatus.ACTIVE}


class Merge:
    """One ``apply``: feed deltas, ``finish``."""

    def __init__(
        self, state: State, space: Space, namespace: Namespace, source: SourceName | None, precedence: int
    ) -> None:
        self._state = state
        self._space = space
        self._namespace = namespace
        self._source = source
        self._precedence = precedence
        self._sessions = self._messages = self._parts = 0
        self._touched: set[SessionId] = set()
        self._overlapping: set[tuple[SessionId, SessionId]] = set()

    def add(self, delta: SessionDelta) -> None:
        session = replace(delta.session, namespace=self._namespace)
        if self._source is not None:
            name = session_of(self._space, self._source, self._precedence, delta)
            if name != session.id:
                session = replace(session, id=name, source_id=session.source_id or session.id)
        known = self._space.sessions.get(session.id)
        is_older = known is not None and known.precedence > self._precedence
        kept = self._insert(session) if known is None else self._update(known, session, is_older=is_older)
        if self._source is not None:
            kept.sources.add(self._source)
        self._merge_messages(kept, delta, is_older=is_older)
        for result in delta.tool_results:
            if not is_older:
                self._merge_result(kept, result)
        self._mark(kept, delta)

    def finish(self, at: int) -> Applied:
        for session_id in self._touched:
            self._space.sessions[session_id].revision += 1
        self._space.log("session", sorted(self._touched), at)
        self._space.overlaps |= self._overlapping
        return Applied(
            self._sessions, self._messages, self._parts, frozenset(self._touched), frozenset(self._overlapping)
        )

    def _insert(self, session: Session) -> StoredSession:
        kept = self._space.sessions[session.id] = StoredSession(session, precedence=self._precedence)
        self._state.put_session(kept, session)
        self._sessions += 1
        self._touched.add(session.id)
        return kept

    def _update(self, kept: StoredSession, session: Session, *, is_older: bool) -> StoredSession:
        is_other = self._state.put_session(kept, _merged(kept.session, session, is_older=is_older))
        if is_other or kept.is_deleted_at_source or kept.precedence < self._precedence:
            self._touched.add(session.id)
        kept.is_deleted_at_source = False
        kept.precedence = max(kept.precedence, self._precedence)
        return kept

    def _put(self, kept: StoredSession, message: Message) -> None:
        if self._state.put_message(kept, message):
            self._touched.add(kept.session.id)

    # --- messages

    def _merge_messages(self, kept: StoredSession, delta: SessionDelta, *, is_older: bool) -> None:
        number = self._file_number(kept, delta) if delta.messages else 0
        is_numbered_here = delta.file is not None and len(kept.files) > 1
        for message in delta.messages:
            parts = tuple({part.id: part for part in message.parts}.values())
            known = kept.messages.get(message.id)
            if known is None:
                self._put(kept, replace(message, parts=parts))
                self._messages += 1
                self._parts += len(parts)
                if number:
                    kept.positions[message.id] = number, message.seq
            elif not is_older:
                self._meet(kept, known, replace(message, parts=parts), keeps_number=is_numbered_here)
            self._note_overlaps(kept, message)
        if is_numbered_here:
            _put_in_order(kept)

    def _meet(self, kept: StoredSession, old: Message, new: Message, *, keeps_number: bool) -> None:
        if (old.id, "") in kept.unseen:
            merged = replace(new, inherited_from=new.inherited_from or old.inherited_from)
        else:
            merged = merged_message(old, new)
        parts: dict[str, Part] = {part.id: part for part in old.parts}
        for part in new.parts:
            if part.id in parts and (old.id, part.id) not in kept.unseen:
                parts[part.id] = merged_part(parts[part.id], part)
            else:
                parts[part.id] = part
        self._parts += len(parts) - len(old.parts)
        kept.unseen -= {(old.id, ""), *((old.id, part.id) for part in new.parts)}
        seq = old.seq if keeps_number else merged.seq
        self._put(kept, replace(merged, seq=seq, parts=tuple(parts.values())))

    def _merge_result(self, kept: StoredSession, result: ToolResult) -> None:
        for message, part, _ in list(kept.parts()):
            if part.tool and part.tool.call_id == result.call_id:
                new = merged_part(part, answered(part, result))
                self._put(kept, replace(message, parts=tuple(new if x.id == part.id else x for x in message.parts)))
                return

    def _mark(self, kept: StoredSession, delta: SessionDelta) -> None:
        for message in list(kept.messages.values()):
            stays = message.reverted and not delta.reverted_is_complete
            marked = stays or message.id in delta.reverted, message.superseded or message.id in delta.superseded
            if marked != (message.reverted, message.superseded):
                self._put(kept, replace(message, reverted=marked[0], superseded=marked[1]))

    def _file_number(self, kept: StoredSession, delta: SessionDelta) -> int:
        if delta.file is None:
            return 0
        kept.files.setdefault((self._source, delta.file), delta.after)
        return list(kept.files).index((self._source, delta.file))

    def _note_overlaps(self, kept: StoredSession, message: Message) -> None:
        own = kept.session.id
        for other, of_other in self._space.sessions.items():
            held = of_other.messages.get(message.id)
            if other != own and held and not held.inherited_from and not message.inherited_from:
                self._overlapping.add((min(own, other), max(own, other)))


def _merged(old: Session, new: Session, *, is_older: bool) -> Session:
    first, second = (new, old) if is_older else (old, new)
    said = {name: value for name in _FACTS if (value := getattr(new, name)) not in (None, (), _UNSAID.get(name))}
    known = {name: value for name in _FACTS if (value := getattr(old, name)) not in (None, ())}
    facts: dict[str, Any] = {**said, **known} if is_older else {**known, **said}
    return replace(
        old,
        **facts,
        created_at=least(old.created_at, new.created_at),
        updated_at=most(old.updated_at, new.updated_at),
        metadata={**first.metadata, **second.metadata},
        warnings=tuple(dict.fromkeys([*first.warnings, *second.warnings])),
    )


def _put_in_order(kept: StoredSession) -> None:
    placed = [
        (*kept.positions.get(message.id, (0, message.seq)), at, message)
        for at, message in enumerate(kept.messages.values())
    ]
    placed.sort(key=lambda place: place[:3])
    rows = [(message.id, message.seq, file, message.created_at) for file, _, _, message in placed]
    moved: dict[int, int] = {}
    for message_id, seq, number in renumbered(rows):
        kept.positions.setdefault(message_id, (0, seq))
        kept.messages[message_id] = replace(kept.messages[message_id], seq=number)
        moved[seq] = number
    # A summary ends at a message, and goes where that message goes.
    kept.summaries = [
        replace(
            each,
            from_seq=moved.get(each.from_seq, each.from_seq),
            through_seq=moved.get(each.through_seq, each.through_seq),
        )
        for each in kept.summaries
    ]
