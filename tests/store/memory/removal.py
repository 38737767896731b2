"""Removing a session from everything that knows of it."""

from __future__ import annotations

from dataclasses import replace

from ovillo.model.records import SessionId
from ovillo.store.protocol.sources import STAMP
from tests.store.memory.state import Space, State, StoredSession


def remove_session(state: State, space: Space, session_id: SessionId) -> None:
    """Within a transaction. What hangs on the session itself goes with it; forks own from now on what they copied."""
    gone = space.sessions.pop(session_id)
    for kept in space.sessions.values():
        _forget_origin(state, kept, session_id)
    space.overlaps = {pair for pair in space.overlaps if session_id not in pair}
    space.links = {ends: link for ends, link in space.links.items() if session_id not in ends[:2]}
    space.dismissed = {pair for pair in space.dismissed if session_id not in pair}
    space.tasks = {name: task for name, task in space.tasks.items() if task.session_id != session_id}
    told = (session_id, f"{session_id}/")
    space.changes = [each for each in space.changes if each.ref != told[0] and not each.ref.startswith(told[1])]
    for name in gone.sources:
        source = space.sources[name]
        # Names of its files tell of it; they are looked at once more, and left alone then.
        files = [
            file
            for file, value in source.cursor.items()
            if file == STAMP or session_id in file or session_id in str(value)
        ]
        for file in files:
            del source.cursor[file]
        for file, position in list(source.skipped):
            if session_id in file or session_id in position or any(file.endswith(name) for name in files):
                del source.skipped[file, position]


def _forget_origin(state: State, kept: StoredSession, origin: SessionId) -> None:
    session = kept.session
    for message in list(kept.messages.values()):
        if message.inherited_from == origin:
            state.put_message(kept, replace(message, inherited_from=None))
    kept.session = replace(
        session,
        parent_id=None if session.parent_id == origin else session.parent_id,
        forked_from=None if session.forked_from == origin else session.forked_from,
    )
