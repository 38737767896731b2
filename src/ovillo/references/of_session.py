"""Resolving the references of a query against a recorded session.

Owns bringing a session's messages and entities into the shapes of resolution, and its result into those of
``get_context``. How references are decided is the resolver's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ovillo.model.errors import NotFound
from ovillo.model.records import Message, Namespace, PartType, SessionId
from ovillo.references.context.answer import ResolvedEntity
from ovillo.references.context.service import ResolvedQuery
from ovillo.references.mentions import Conversation
from ovillo.references.model import Entity, Kind, Mention, Resolved, Status, Turn
from ovillo.references.resolver import resolve

if TYPE_CHECKING:
    from ovillo.code.service import CodeIndex
    from ovillo.entities.service import Entities
    from ovillo.model.clock import Clock
    from ovillo.model.entities import SessionEntity
    from ovillo.store.protocol import Store

#: What is looked back at: the newest messages and what was named last.
_MESSAGES, _ENTITIES = 400, 200
_TURN_CHARS = 4_000
_OFFERED = 4


class SessionReferences:
    """``resolve`` is what ``get_context`` asks."""

    def __init__(self, store: Store, entities: Entities, code: CodeIndex, clock: Clock) -> None:
        self._store = store
        self._entities = entities
        self._code = code
        self._clock = clock

    def resolve(self, namespace: Namespace, query: str, session_id: SessionId) -> ResolvedQuery:
        """What the references of the query mean in the session. Raises NotFound."""
        if self._store.get_session(namespace, session_id) is None:
            raise NotFound(f"No session {session_id!r}.", hint="List sessions, or create it first.")
        messages = self._store.messages(namespace, session_id, limit=_MESSAGES, newest_first=True)[::-1]
        known = self._entities.entities_of_session(namespace, session_id, limit=_ENTITIES)
        turns = [turn for message in messages if (turn := _turn(session_id, message))]
        conversation = Conversation(
            [_entity(each) for each in known] + self._described(namespace, query, known), turns, session_id
        )
        resolution = resolve(query, conversation, self._clock())
        last = {key: places[-1] for key, places in conversation.by_entity.items() if places}
        shown = tuple(
            _shown(each, last, conversation, messages)
            for each in resolution.references
            if each.reference.kind is not Kind.NAMED or each.status is Status.RESOLVED
        )
        return ResolvedQuery(resolution.languages[0], shown, resolution.expanded)

    def _described(self, namespace: Namespace, query: str, known: Sequence[SessionEntity]) -> list[Entity]:
        """Names in the query that the session never spoke of, as far as the code index knows them."""
        from ovillo.entities.extraction import entities_in  # start-up cost: an automaton that most starts do not need

        names = {each.name for each in known}
        found = []
        for sighting in entities_in(query):
            if sighting.name in names:
                continue
            rows = self._code.find(namespace, sighting.name, limit=1)
            if rows:
                row = rows[0]
                lines = (row.start_line, row.end_line)
                found.append(Entity(f"code:{row.id}", row.kind.value, row.name, (), row.file, lines))
        return found


def _turn(session_id: SessionId, message: Message) -> Turn | None:
    said = " ".join(
        part.text for part in message.parts if part.text and not part.synthetic and part.type is PartType.TEXT
    )
    if not said.strip():
        return None
    return Turn(session_id, message.created_at, message.role.value, said[:_TURN_CHARS], message.id)


def _entity(each: SessionEntity) -> Entity:
    return Entity(f"{each.type.value}:{each.name}", each.type.value, each.name, each.aliases, each.file, each.lines)


def _shown(
    each: Resolved, last: dict[str, Mention], conversation: Conversation, messages: Sequence[Message]
) -> ResolvedEntity:
    entities = each.entities or tuple(candidate.entity for candidate in each.candidates[:_OFFERED])
    first = entities[0] if entities else None
    place = last.get(first.id) if first else None
    said_in = conversation.turns[place.turn].message_id if place else None
    message = next((x for x in messages if x.id == said_in), None)
    return ResolvedEntity(
        text=each.reference.text,
        status=each.status.value,
        names=tuple(entity.name for entity in entities),
        type=first.type if first and each.entities else None,
        file=first.file if first and each.entities else None,
        lines=first.lines if first and each.entities else None,
        confidence=each.confidence,
        rule=each.rule,
        mentioned_in=said_in,
        mentioned_seq=message.seq if message else None,
        mentioned_at=message.created_at if message else None,
    )
