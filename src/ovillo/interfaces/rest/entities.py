"""``/api/entities`` and ``/api/sessions/{id}/entities``: names that sessions speak of, and where.

Owns the requests; places and discussions are the forms of the tool ``where_discussed``.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ovillo.interfaces.http.endpoints import Endpoint, Exchange, Reply
from ovillo.interfaces.tools import where_discussed
from ovillo.interfaces.tools.registry import Registry
from ovillo.interfaces.tools.where_discussed import MentionInfo, NameInfo, name_info, place_info, words_for
from ovillo.model.entities import EntityType, SessionEntity
from ovillo.security.principals import CONTEXT_READ

_TAG = "Entities"
_TOOL = Registry([where_discussed.TOOL])


class ListQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    #: Beginning of the name (of its last piece).
    prefix: str = ""
    type: EntityType | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 50


class Names(Struct, kw_only=True):
    entities: list[NameInfo]


class MentionsQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    type: EntityType | None = None
    project: str | None = None
    session: str | None = None
    limit: Annotated[int, Meta(ge=1, le=200)] = 20
    cursor: str | None = None


class SessionQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    type: EntityType | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 100


class EntityInfo(Struct, kw_only=True):
    name: str
    type: str
    count: int
    evidence: list[str]
    candidate: bool
    mentions: list[MentionInfo]
    aliases: list[str]
    file: str | UnsetType = UNSET
    lines: list[int] | UnsetType = UNSET


class OfSession(Struct, kw_only=True):
    session_id: str
    entities: list[EntityInfo]


def entity_info(entity: SessionEntity) -> EntityInfo:
    return EntityInfo(
        name=entity.name,
        type=entity.type.value,
        count=entity.count,
        evidence=words_for(entity.evidence),
        candidate=entity.is_candidate,
        mentions=[place_info(x) for x in entity.mentions],
        aliases=list(entity.aliases),
        file=entity.file or UNSET,
        lines=list(entity.lines) if entity.lines else UNSET,
    )


def _list(call: Exchange[ListQuery, None]) -> Reply:
    query = call.query
    found = call.services.entities.names(call.namespace, beginning=query.prefix, type=query.type, limit=query.limit)
    return Reply(Names(entities=[name_info(x) for x in found]))


def _mentions(call: Exchange[MentionsQuery, None]) -> Reply:
    query = call.query
    given = {
        "entity": call.path["name"],
        "type": query.type.value if query.type else None,
        "projectID": query.project,
        "sessionID": query.session,
        "limit": query.limit,
        "cursor": query.cursor,
    }
    arguments = {name: value for name, value in given.items() if value is not None}
    return Reply(_TOOL.answer(call.services, call.principal, "where_discussed", arguments).structured)


def _of_session(call: Exchange[SessionQuery, None]) -> Reply:
    session_id = call.services.catalog.resolve(call.namespace, call.path["id"]).session.id
    types = (call.query.type,) if call.query.type else ()
    found = call.services.entities.entities_of_session(call.namespace, session_id, types=types, limit=call.query.limit)
    return Reply(OfSession(session_id=session_id, entities=[entity_info(x) for x in found]))


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/entities",
        "listEntities",
        "Names that sessions speak of",
        _TAG,
        CONTEXT_READ,
        _list,
        query=ListQuery,
        reply=Names,
    ),
    Endpoint(
        "GET",
        "/api/entities/{name}/mentions",
        "listMentions",
        "Where an entity was discussed",
        _TAG,
        CONTEXT_READ,
        _mentions,
        query=MentionsQuery,
        reply=where_discussed.Output,
        also={404: "No session names it."},
    ),
    Endpoint(
        "GET",
        "/api/sessions/{id}/entities",
        "listSessionEntities",
        "Entities of a session",
        _TAG,
        CONTEXT_READ,
        _of_session,
        query=SessionQuery,
        reply=OfSession,
        also={404: "No such session."},
        deed="read",
    ),
)
