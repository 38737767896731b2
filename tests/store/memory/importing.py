"""Taking in a whole session at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ovillo.model.errors import Conflict
from ovillo.model.live import Summary
from ovillo.model.records import Message, Namespace, Session
from ovillo.model.sessions import SessionRow
from tests.store.memory.state import StoredSession
from tests.store.memory.stored import stored
from tests.store.memory.substore import SubStore


class Importing(SubStore):
    def import_session(
        self,
        namespace: Namespace,
        session: Session,
        messages: Iterable[Message],
        summaries: Sequence[Summary] = (),
        *,
        at: int,
    ) -> SessionRow:
        messages = list(messages)
        with self._state.writing_to(namespace) as space:
            if session.id in space.sessions:
                raise Conflict(f"There is a session {session.id!r} already.", hint="Import it under another id.")
            kept = space.sessions[session.id] = StoredSession(session)
            self._state.put_session(kept, replace(session, namespace=namespace))
            for message in messages:
                self._state.put_message(kept, message)
            kept.summaries = [stored(summary) for summary in summaries]
            space.log("session", [session.id], at)
            space.log("message", [f"{session.id}/{message.id}" for message in messages], at)
            return kept.row()
