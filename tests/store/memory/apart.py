"""Which session a reader's records belong to, where several of a client's go by one id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ovillo.model.ids import numbered_id
from ovillo.model.records import Message, SessionDelta, SessionId
from tests.store.memory.state import SourceName, Space, StoredSession


def session_of(space: Space, source: SourceName, precedence: int, delta: SessionDelta) -> SessionId:
    """The client's id, or the name of a later session of that id."""
    held = list(_held(space, delta.session.id))
    for kept in held:
        if source in kept.sources if delta.file is None else (source, delta.file) in kept.files:
            return kept.session.id
    if not held or not delta.from_start or not delta.messages:
        return delta.session.id
    for kept in held:
        # Another generation of a client's store holds the same sessions.
        if kept.precedence != precedence or _is_same(kept, delta):
            return kept.session.id
    return SessionId(numbered_id(delta.session.id, len(held) + 1))


def _held(space: Space, session_id: SessionId) -> Iterator[StoredSession]:
    name, number = session_id, 1
    while kept := space.sessions.get(name):
        yield kept
        number += 1
        name = SessionId(numbered_id(session_id, number))


def _is_same(kept: StoredSession, delta: SessionDelta) -> bool:
    ids = {message.id for message in delta.messages}
    # What is read anew and has not come again yet says nothing of where it comes from.
    own = [message for message in kept.in_order() if (message.id, "") not in kept.unseen]
    shared = [message for message in own if message.id in ids]
    if not own or len(shared) == len(ids):
        return True
    if not shared:
        goes_on = delta.after in _records(own)
        return goes_on or not _records(delta.messages).isdisjoint(filter(None, kept.files.values()))
    last = max(message.seq for message in shared)
    return not any(message.seq > last and message.id not in ids for message in own)


def _records(messages: Iterable[Message]) -> set[str]:
    """Records become messages, or parts of them whose ids begin with theirs."""
    return {
        name for message in messages for name in (message.id, *(part.id.partition(":")[0] for part in message.parts))
    }
