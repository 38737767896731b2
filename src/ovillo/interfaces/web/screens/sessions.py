"""``/sessions``: every session that there is, narrowed by facets and found while typing."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ovillo.interfaces.web.pages import Pages
from ovillo.interfaces.web.visits import View, Visit
from ovillo.model.sessions import SessionFilter
from ovillo.search.results import Hit, SessionHits
from ovillo.search.service import SearchRequest
from ovillo.security.principals import HISTORY_READ
from ovillo.sessions.results import SessionSummary

pages = Pages()

_SHOWN = 50


class SessionsQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """The state of the screen: all of it stands in the address."""

    q: Annotated[str, Meta(max_length=2_000)] = ""
    project: str | None = None
    source: str | None = None
    cursor: str | None = None


class Snippet(Struct, omit_defaults=True):
    #: Pieces of the text, every second one found.
    pieces: list[str]
    role: str
    #: Of the part or message: what ``?at=`` of its session takes.
    at: str
    tool: str | None = None


class SessionLine(Struct, omit_defaults=True):
    """A session in the list."""

    id: str
    title: str
    source: str
    agents: list[str]
    project: str | None
    updated_at: int | None
    messages: int
    parts: int
    prompts: int
    is_fork: bool = False
    found: list[Snippet] = []
    more: int = 0


class SessionsData(Struct, omit_defaults=True):
    sessions: list[SessionLine]
    total: int | None = None
    next_cursor: str | None = None
    notes: list[str] = []
    elapsed_ms: float | None = None


@pages("/sessions", HISTORY_READ)
def sessions_page(visit: Visit[SessionsQuery]) -> View:
    data = _found(visit) if visit.query.q.strip() else _listed(visit)
    return View("screens/sessions.html", data, visit.t("sessions.title"), "sessions", more={"query": visit.query})


def _listed(visit: Visit[SessionsQuery]) -> SessionsData:
    query = visit.query
    where = SessionFilter(project=query.project, source=query.source)
    page = visit.services.catalog.list(visit.namespace, where, limit=_SHOWN, cursor=query.cursor)
    return SessionsData(
        [_line(each) for each in page.sessions], page.total, page.next_cursor, [str(each) for each in page.notes]
    )


def _found(visit: Visit[SessionsQuery]) -> SessionsData:
    query = visit.query
    request = SearchRequest(
        query.q, project=query.project, source=query.source, limit=_SHOWN, cursor=query.cursor, hits_per_session=2
    )
    found = visit.services.search.search(visit.namespace, request)
    return SessionsData(
        [_hit_line(each) for each in found.sessions],
        None,
        found.next_cursor,
        [str(each) for each in found.notes],
        found.elapsed_ms,
    )


def _line(summary: SessionSummary) -> SessionLine:
    session, counts = summary.session, summary.counts
    return SessionLine(
        id=session.id,
        title=summary.title,
        source=session.source,
        agents=list(summary.agents),
        project=session.directory,
        updated_at=session.updated_at,
        messages=counts.messages,
        parts=counts.parts,
        prompts=counts.prompts,
        is_fork=session.forked_from is not None,
    )


def _hit_line(found: SessionHits) -> SessionLine:
    line = _line(found.summary)
    line.found = [_snippet(hit) for hit in found.hits]
    line.more = found.more
    return line


def _snippet(hit: Hit) -> Snippet:
    """The snippet cut where its highlights begin and end."""
    pieces, at = [], 0
    for start, end in sorted(hit.highlights):
        if start < at:
            continue
        pieces += [hit.snippet[at:start], hit.snippet[start:end]]
        at = end
    pieces.append(hit.snippet[at:])
    return Snippet(pieces, hit.role, hit.part_id or hit.message_id or "", hit.tool)
