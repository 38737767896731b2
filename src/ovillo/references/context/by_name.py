"""References that are names: ``validate_card``, ``pay.py:45``.

Owns looking them up among what the session spoke of. What "that function" means is the resolver's.
"""

from __future__ import annotations

from ovillo.entities.extraction import entities_in
from ovillo.entities.service import Entities
from ovillo.model.entities import EntityType, SessionEntity
from ovillo.model.records import Namespace, SessionId
from ovillo.references.context.answer import ResolvedEntity
from ovillo.references.context.service import ResolvedQuery
from ovillo.sessions.languages import identify

_NAMED = frozenset(
    {
        EntityType.FUNCTION,
        EntityType.METHOD,
        EntityType.CLASS,
        EntityType.FILE,
        EntityType.MODULE,
        EntityType.TEST,
        EntityType.IDENTIFIER,
    }
)
#: A name that the session spoke of, and one that it did not.
_SURE, _LIKELY = 0.95, 0.7
_LOOKED_AT = 200


def resolve_names(entities: Entities, namespace: Namespace, query: str, session_id: SessionId) -> ResolvedQuery:
    """The names in the query, each with its last mention in the session. Raises NotFound for the session."""
    known = {entity.name: entity for entity in entities.entities_of_session(namespace, session_id, limit=_LOOKED_AT)}
    found: dict[str, ResolvedEntity] = {}
    for sighting in entities_in(query):
        if sighting.type in _NAMED and sighting.name not in found:
            lines = (sighting.line, sighting.line) if sighting.line else None
            found[sighting.name] = _resolved(sighting.name, sighting.type, lines, known.get(sighting.name))
    return ResolvedQuery(identify([query]).code, tuple(found.values()), query)


def _resolved(
    name: str, kind: EntityType, lines: tuple[int, int] | None, entity: SessionEntity | None
) -> ResolvedEntity:
    last = entity.mentions[-1] if entity and entity.mentions else None
    return ResolvedEntity(
        text=name,
        status="resolved",
        names=(name,),
        type=(entity.type if entity else kind).value,
        file=name if kind is EntityType.FILE else entity.file if entity else None,
        lines=lines or (entity.lines if entity else None),
        confidence=_SURE if entity else _LIKELY,
        rule="explicit name",
        mentioned_in=last.message_id if last else None,
        mentioned_seq=last.seq if last else None,
        mentioned_at=last.at if last else None,
    )
