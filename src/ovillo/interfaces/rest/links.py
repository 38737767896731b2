"""``/api/sessions/{id}/links`` and ``/api/links/proposals``: how sessions belong together.

Owns the requests; answers are the forms of the tool ``link_sessions``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from ovillo.interfaces.http.endpoints import Endpoint, Exchange, Reply
from ovillo.interfaces.tools.link_sessions import LinkInfo, ProposalInfo, link_info, proposal_info
from ovillo.model.records import SessionId
from ovillo.security.principals import HISTORY_READ, SESSIONS_WRITE

_TAG = "Links"


class NewLink(Struct, kw_only=True, forbid_unknown_fields=True):
    to: str
    relationship: str = "relates_to"
    shared_entities: list[str] = []
    note: str | None = None


class RemoveQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    to: str
    #: Every relationship when left out.
    relationship: str | None = None


class ProposalQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    #: For one session; for those written last when left out.
    session: str | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class Verdict(Struct, kw_only=True, forbid_unknown_fields=True):
    action: Literal["accept", "dismiss"]
    from_: str = field(name="from")
    to: str


class Links(Struct, kw_only=True):
    """All links of a session, in both directions, read from it."""

    session_id: str
    related_sessions: list[LinkInfo]


class Proposals(Struct, kw_only=True):
    proposals: list[ProposalInfo]


class Removed(Struct, kw_only=True):
    removed: int


def _session(call: Exchange[Any, Any], ref: str) -> SessionId:
    return call.services.catalog.resolve(call.namespace, ref).session.id


def _links(call: Exchange[Any, Any], session_id: SessionId, status: int = 200) -> Reply:
    seen = call.services.links.links_of(call.namespace, session_id)
    return Reply(Links(session_id=session_id, related_sessions=[link_info(x) for x in seen]), status)


def _list(call: Exchange[Any, None]) -> Reply:
    return _links(call, _session(call, call.path["id"]))


def _link(call: Exchange[Any, NewLink]) -> Reply:
    given = call.body
    from_id, to_id = _session(call, call.path["id"]), _session(call, given.to)
    _, is_new = call.services.links.link_sessions(
        call.namespace, from_id, to_id, given.relationship, given.shared_entities, given.note
    )
    return _links(call, from_id, 201 if is_new else 200)


def _unlink(call: Exchange[RemoveQuery, None]) -> Reply:
    ends = _session(call, call.path["id"]), _session(call, call.query.to)
    removed = call.services.links.unlink(call.namespace, *ends, call.query.relationship)
    return Reply(Removed(removed=removed))


def _propose(call: Exchange[ProposalQuery, None]) -> Reply:
    proposals, limit = call.services.link_proposals, call.query.limit
    if call.query.session is None:
        found = proposals.newest(call.namespace, limit)
    else:
        found = proposals.for_session(call.namespace, _session(call, call.query.session), limit)
    return Reply(Proposals(proposals=[proposal_info(x) for x in found]))


def _decide(call: Exchange[Any, Verdict]) -> Reply:
    from_id, to_id = _session(call, call.body.from_), _session(call, call.body.to)
    if call.body.action == "accept":
        call.services.link_proposals.accept(call.namespace, from_id, to_id)
    else:
        call.services.link_proposals.dismiss(call.namespace, from_id, to_id)
    return _links(call, from_id)


_NONE = {404: "No such session, link or proposal."}
_PATH = "/api/sessions/{id}/links"

ENDPOINTS = (
    Endpoint(
        "GET", _PATH, "listLinks", "Links of a session", _TAG, HISTORY_READ, _list, reply=Links, also=_NONE, deed="read"
    ),
    Endpoint(
        "POST",
        _PATH,
        "linkSessions",
        "Link a session to another",
        _TAG,
        SESSIONS_WRITE,
        _link,
        body=NewLink,
        reply=Links,
        status=201,
        also=_NONE | {200: "The link was there; its entities and note were replaced."},
    ),
    Endpoint(
        "DELETE",
        _PATH,
        "unlinkSessions",
        "Remove links to another session",
        _TAG,
        SESSIONS_WRITE,
        _unlink,
        query=RemoveQuery,
        reply=Removed,
        also=_NONE,
    ),
    Endpoint(
        "GET",
        "/api/links/proposals",
        "proposeLinks",
        "Links that evidence speaks for",
        _TAG,
        HISTORY_READ,
        _propose,
        query=ProposalQuery,
        reply=Proposals,
        also=_NONE,
    ),
    Endpoint(
        "POST",
        "/api/links/proposals",
        "decideOnProposal",
        "Accept or dismiss a proposed link",
        _TAG,
        SESSIONS_WRITE,
        _decide,
        body=Verdict,
        reply=Links,
        also=_NONE,
    ),
)
