"""Recording live sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from ovillo.model.errors import Conflict, InvalidInput, NotFound, PreconditionFailed
from ovillo.model.live import NATIVE, Appended, Summary
from ovillo.model.records import Message, MessageId, Namespace, Session, SessionId, SessionStatus
from ovillo.model.sessions import SessionRow
from ovillo.store.protocol.recording import CHANGEABLE
from tests.store.memory.forgetting import check_not_forgotten
from tests.store.memory.removal import remove_session
from tests.store.memory.state import Space, StoredSession
from tests.store.memory.stored import stored
from tests.store.memory.substore import SubStore

#: Of the newest summary, what a list of sessions shows (characters).
SHOWN = 200
#: What a field is when it was emptied, where that is not ``None``.
_EMPTY: Mapping[str, object] = {"status": SessionStatus.ACTIVE, "modes": (), "active_files": (), "metadata": {}}


class Recording(SubStore):
    def create(self, namespace: Namespace, session: Session) -> tuple[SessionRow, bool]:
        with self._state.writing() as tables:
            space = tables.space(namespace)
            is_new = session.id not in space.sessions
            if is_new:
                check_not_forgotten(tables, space, session)
                kept = space.sessions[session.id] = StoredSession(session)
                self._state.put_session(kept, replace(session, namespace=namespace))
                space.log("session", [session.id], session.updated_at or 0)
            return space.sessions[session.id].row(), is_new

    def update(
        self,
        namespace: Namespace,
        session_id: SessionId,
        changes: Mapping[str, Any],
        *,
        at: int,
        if_version: str | None = None,
    ) -> SessionRow:
        if unknown := sorted(set(changes) - set(CHANGEABLE)):
            raise InvalidInput(f"A session's {unknown[0]} cannot be set.", hint=f"Settable: {', '.join(CHANGEABLE)}.")
        values: dict[str, Any] = {name: _EMPTY.get(name) if value is None else value for name, value in changes.items()}
        with self._state.writing_to(namespace) as space:
            kept = _current(space, session_id, if_version)
            values["updated_at"] = max(at, kept.session.updated_at or 0)
            self._state.put_session(kept, replace(kept.session, **values))
            kept.revision += 1
            space.log("session", [session_id], at)
            return kept.row()

    def delete(self, namespace: Namespace, session_id: SessionId, *, at: int, if_version: str | None = None) -> None:
        with self._state.writing() as tables:
            space = tables.space(namespace)
            _current(space, session_id, if_version)
            remove_session(self._state, space, session_id)
            tables.is_wipe_due = True
            space.log("session_deleted", [session_id], at)

    def append(
        self, namespace: Namespace, session_id: SessionId, messages: Sequence[tuple[Message, str]], *, at: int
    ) -> Future[list[Appended]]:
        future: Future[list[Appended]] = Future()
        try:
            with self._state.writing_to(namespace) as space:
                kept = _current(space, session_id, None)
                appended = [self._append(space, kept, message, key, at) for message, key in messages]
            future.set_result(appended)
        except Exception as error:  # noqa: BLE001 - it is the future's
            future.set_exception(error)
        return future

    def _append(self, space: Space, kept: StoredSession, message: Message, key: str, at: int) -> Appended:
        heard_now = said(message)
        if key in kept.appended:
            before, heard = kept.appended[key]
            if heard != heard_now:
                raise Conflict(
                    f"The idempotency key {key[:80]!r} was used in session {kept.session.id!r} for another message.",
                    hint="Use a new key for a new message.",
                )
            return replace(before, replayed=True)
        if message.id in kept.messages:
            raise Conflict(
                f"Session {kept.session.id!r} has a message {message.id!r} already.", hint="Use another id, or none."
            )
        seq = max((each.seq for each in kept.messages.values()), default=0) + 1
        self._state.put_message(kept, replace(message, seq=seq))
        kept.session = replace(kept.session, updated_at=max(at, kept.session.updated_at or 0))
        kept.appended[key] = Appended(message.id, seq), heard_now
        kept.revision += 1
        space.log("message", [f"{kept.session.id}/{message.id}"], at)
        return kept.appended[key][0]

    def take_back(self, namespace: Namespace, session_id: SessionId, most: int | None, *, at: int) -> list[MessageId]:
        with self._state.writing_to(namespace) as space:
            kept = _current(space, session_id, None)
            taken = [each for each in reversed(kept.in_order()) if not each.reverted][:most]
            for each in taken:
                self._state.put_message(kept, replace(each, reverted=True))
            if taken:
                kept.session = replace(kept.session, updated_at=max(at, kept.session.updated_at or 0))
                kept.revision += 1
                space.log("session", [session_id], at)
            return [each.id for each in taken]

    def put_summary(self, namespace: Namespace, summary: Summary) -> None:
        with self._state.writing_to(namespace) as space:
            kept = _current(space, summary.session_id, None)
            newest = kept.summaries[-1].through_seq if kept.summaries else None
            if newest is not None and newest >= summary.through_seq:
                raise Conflict(
                    f"Session {summary.session_id!r} is summarised through message {newest} already.",
                    hint="Read it again.",
                )
            kept.summaries.append(stored(summary))
            kept.revision += 1
            if kept.session.source == NATIVE:
                kept.session = replace(kept.session, summary=" ".join(kept.summaries[-1].text.split())[:SHOWN])
            space.log("summary", [summary.session_id], summary.created_at)

    def summaries(self, namespace: Namespace, session_id: SessionId) -> list[Summary]:
        kept = self._state.space(namespace).sessions.get(session_id)
        return list(kept.summaries) if kept else []


def _current(space: Space, session_id: SessionId, if_version: str | None) -> StoredSession:
    kept = space.sessions.get(session_id)
    if kept is None:
        raise NotFound(f"No session {session_id!r}.", hint="List sessions, or create it first.")
    if if_version not in (None, str(kept.revision)):
        raise PreconditionFailed(
            f"Session {session_id!r} changed meanwhile (it is at {kept.revision}, you had {if_version}).",
            hint="Read it again and repeat the change.",
        )
    return kept


def said(message: Message) -> object:
    """What makes two messages under one key the same: who said what; not the id or time the server gave it."""
    said = stored(message)
    return said.role, [(part.type, part.text, part.tool, part.file, part.patch) for part in said.parts]
