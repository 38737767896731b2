"""The paths of MCP-HUB v6 (mcp-v6-roadmap, "API Extensions"), for programs written for it.

Owns their names and shapes, snake case with ISO times. New programs use ``/api``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, structs

from ovillo.interfaces.http.endpoints import Endpoint, Exchange, Reply
from ovillo.interfaces.rest.shapes import Turns
from ovillo.model.clock import to_iso
from ovillo.model.limits import LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX
from ovillo.model.records import SessionId, SessionType
from ovillo.security.principals import HISTORY_READ, SESSIONS_WRITE
from ovillo.sessions.drafts import SessionDraft
from ovillo.sessions.memory_choice import CHOICE, checked_choice
from ovillo.sessions.results import SessionSummary
from ovillo.store.protocol import SessionFilter

_TAG = "MCP-HUB v6"
_ENTITIES = 50


class Memory(Struct, kw_only=True):
    """The configuration of a session (Feature 1); ``scope`` and other keys of old programs mean nothing here."""

    type: Literal["summarizing", "trimming", "off"] | None = None
    max_turns: Turns | None = None
    keep_last_n_turns: Turns | None = None
    context_limit: Turns | None = None
    summarization_prompt: Annotated[str, Meta(max_length=64)] | None = None


class Create(Struct, kw_only=True):
    session_type: SessionType = SessionType.GENERAL
    session_id: str | None = None
    metadata: dict[str, Any] = {}
    #: How this session is kept short.
    session: Memory | None = None


class Created(Struct, kw_only=True):
    session_id: str
    created_at: str | None


class ListQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    session_type: SessionType | None = None
    limit: Annotated[int, Meta(ge=1, le=LIST_LIMIT_MAX)] = LIST_LIMIT_DEFAULT
    cursor: str | None = None


class Listed(Struct, kw_only=True):
    session_id: str
    type: str | None
    created_at: str | None
    updated_at: str | None
    status: str
    title: str
    turns: int


class List(Struct, kw_only=True, omit_defaults=True):
    sessions: list[Listed]
    total: int
    next_cursor: str | None = None


class Summarised(Struct, kw_only=True):
    session_id: str
    type: str | None
    turns: int
    entities_discussed: list[str]
    files_modified: list[str]
    summary: str
    status: str


class Removed(Struct, kw_only=True):
    success: bool
    session_id: str


def _create(call: Exchange[Any, Create]) -> Reply:
    given = call.body
    said = given.metadata.get("description") or given.metadata.get("feature_id")
    draft = SessionDraft(
        id=given.session_id,
        name=said if isinstance(said, str) and len(said) <= 500 else None,
        type=given.session_type,
        metadata=given.metadata if given.session is None else {**given.metadata, CHOICE: _chosen(given.session)},
    )
    row, _ = call.services.recorder.create(call.namespace, draft)
    return Reply(Created(session_id=row.session.id, created_at=to_iso(row.session.created_at)))


def _chosen(given: Memory) -> dict[str, Any]:
    return checked_choice(structs.asdict(given))


def _list(call: Exchange[ListQuery, None]) -> Reply:
    query = call.query
    page = call.services.catalog.list(
        call.namespace, SessionFilter(type=query.session_type), limit=query.limit, cursor=query.cursor
    )
    return Reply(
        List(sessions=[_listed(item) for item in page.sessions], total=page.total, next_cursor=page.next_cursor)
    )


def _listed(summary: SessionSummary) -> Listed:
    session = summary.session
    return Listed(
        session_id=session.id,
        type=session.type,
        created_at=to_iso(session.created_at),
        updated_at=to_iso(session.updated_at),
        status=session.status,
        title=summary.title,
        turns=summary.counts.prompts,
    )


def _summary(call: Exchange[Any, None]) -> Reply:
    """Made on the spot where there is none yet; a session too short for one is shown as its title and first prompt."""
    summary = call.services.catalog.resolve(call.namespace, call.path["id"])
    session = summary.session
    view = call.services.summaries.view(call.namespace, session.id)
    text = view.long_term_summary
    if not text and summary.counts.messages:
        text = call.services.summaries.summarize(call.namespace, session.id, force=True).summary
    entities = call.services.entities.of_session(call.namespace, session.id, _ENTITIES)
    return Reply(
        Summarised(
            session_id=session.id,
            type=session.type,
            turns=summary.counts.prompts,
            entities_discussed=list(entities.entities_mentioned),
            files_modified=list(entities.files_modified),
            summary=text or summary.summary,
            status=session.status,
        )
    )


def _remove(call: Exchange[Any, None]) -> Reply:
    session_id = SessionId(call.path["id"])
    call.services.recorder.delete(call.namespace, session_id)
    return Reply(Removed(success=True, session_id=session_id))


_MISSING = {404: "No such session."}
ENDPOINTS = (
    Endpoint(
        "POST",
        "/sessions/create",
        "v6CreateSession",
        "Create a session",
        _TAG,
        SESSIONS_WRITE,
        _create,
        body=Create,
        also={409: "The id is taken by a session that differs."},
        reply=Created,
    ),
    Endpoint(
        "GET",
        "/sessions/list",
        "v6ListSessions",
        "Sessions, newest first",
        _TAG,
        HISTORY_READ,
        _list,
        query=ListQuery,
        reply=List,
    ),
    Endpoint(
        "GET",
        "/sessions/{id}/summary",
        "v6SessionSummary",
        "What a session was about",
        _TAG,
        HISTORY_READ,
        _summary,
        reply=Summarised,
        also=_MISSING,
        deed="read",
    ),
    Endpoint(
        "DELETE",
        "/sessions/{id}",
        "v6DeleteSession",
        "Remove a session recorded here",
        _TAG,
        SESSIONS_WRITE,
        _remove,
        reply=Removed,
        also=_MISSING,
        deed="removed",
    ),
)
