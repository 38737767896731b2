"""Links between sessions, and what proposals are made from."""

from __future__ import annotations

from collections.abc import Sequence

from ovillo.model.coordination import Link, SharedFile
from ovillo.model.errors import NotFound
from ovillo.model.records import Namespace, PartType, SessionId
from ovillo.model.touched_files import touched_paths
from tests.store.memory.state import Space, StoredSession, is_prompt
from tests.store.memory.stored import stored
from tests.store.memory.substore import SubStore


class Links(SubStore):
    def put(self, namespace: Namespace, link: Link) -> bool:
        with self._state.writing_to(namespace) as space:
            _check(space, link.from_id, link.to_id)
            ends = link.from_id, link.to_id, link.relationship
            is_new = ends not in space.links
            space.links[ends] = stored(link)
            _changed(space, link, link.created_at)
            return is_new

    def remove(
        self, namespace: Namespace, from_id: SessionId, to_id: SessionId, relationship: str | None, *, at: int
    ) -> int:
        with self._state.writing_to(namespace) as space:
            between = [link for ends, link in space.links.items() if ends[:2] == (from_id, to_id)]
            gone = [link for link in between if relationship in (None, link.relationship)]
            for link in gone:
                del space.links[from_id, to_id, link.relationship]
                _changed(space, link, at)
            return len(gone)

    def of(self, namespace: Namespace, session_ids: Sequence[SessionId]) -> list[Link]:
        links = self._state.space(namespace).links.values()
        found = [link for link in links if link.from_id in session_ids or link.to_id in session_ids]
        return sorted(found, key=lambda link: (link.created_at, link.from_id, link.to_id, link.relationship))

    def dismiss(self, namespace: Namespace, one: SessionId, other: SessionId, *, at: int) -> None:
        with self._state.writing_to(namespace) as space:
            _check(space, one, other)
            space.dismissed.add(frozenset((one, other)))

    def dismissed_with(self, namespace: Namespace, session_id: SessionId) -> set[SessionId]:
        pairs = [pair for pair in self._state.space(namespace).dismissed if session_id in pair]
        return {each for pair in pairs for each in pair if each != session_id}

    def sharing_files(self, namespace: Namespace, session_id: SessionId, limit: int) -> list[SharedFile]:
        touched = {name: _files(kept) for name, kept in self._state.space(namespace).sessions.items()}
        found = []
        for path in touched.get(session_id, ()):
            holding = [name for name, paths in touched.items() if path in paths]
            found += [SharedFile(name, path, len(holding)) for name in holding if name != session_id]
        return sorted(found, key=lambda shared: (shared.sessions, shared.path, shared.session_id))[:limit]

    def prompts_of(
        self, namespace: Namespace, session_ids: Sequence[SessionId], per_session: int
    ) -> dict[SessionId, list[str]]:
        sessions = self._state.space(namespace).sessions
        return {each: _prompts(sessions[each])[:per_session] if each in sessions else [] for each in session_ids}


def _check(space: Space, *session_ids: SessionId) -> None:
    for session_id in session_ids:
        if session_id not in space.sessions:
            raise NotFound(f"No session {session_id!r}.", hint="List sessions, or search for words said in it.")


def _changed(space: Space, link: Link, at: int) -> None:
    """Both sessions show the link: whoever holds one of them has an older version now."""
    for session_id in (link.from_id, link.to_id):
        space.sessions[session_id].revision += 1
    space.log("link", [f"{link.from_id}/{link.relationship}/{link.to_id}"], at)


def _files(kept: StoredSession) -> set[str]:
    return {path for message in kept.messages.values() for part in message.parts for path in touched_paths(part)}


def _prompts(kept: StoredSession) -> list[str]:
    texts = (part for message in kept.in_order() if is_prompt(message) for part in message.parts)
    return [part.text for part in texts if part.type is PartType.TEXT and part.text]
