"""``POST /api/context``, and ``POST /get_context`` (mcp-v6-roadmap, "Query with Session Context"), which takes the arguments of
MCP-HUB v5 and v6, too.
"""

from __future__ import annotations

from typing import Any

from ovillo.interfaces.http.endpoints import Endpoint, Exchange, Reply
from ovillo.interfaces.tools import get_context, get_context_compat
from ovillo.security.principals import CONTEXT_READ


def _answer(call: Exchange[Any, get_context.Input]) -> Reply:
    return _answered(call, call.body, None, None)


def _old_answer(call: Exchange[Any, get_context_compat.Input]) -> Reply:
    return _answered(call, call.body, call.body.top_k, call.body.min_score)


def _answered(call: Exchange[Any, Any], given: get_context.Input, top_k: int | None, min_score: float | None) -> Reply:
    session = call.services.catalog.resolve(call.namespace, given.session_id).session if given.session_id else None
    answer = call.services.context.get_context(
        call.namespace,
        given.query,
        session.id if session else None,
        resolve_references=given.resolve_references,
        max_tokens=given.max_tokens,
        top_k=top_k,
        min_score=min_score,
    )
    output = get_context.shown(answer)
    if session is not None:
        output.session_id = session.id
    return Reply(output)


def _endpoint(path: str, name: str, handler: Any, body: type[get_context.Input]) -> Endpoint:
    return Endpoint(
        "POST",
        path,
        name,
        "What answers a question, within a budget, with where it stands",
        "Context",
        CONTEXT_READ,
        handler,
        body=body,
        reply=get_context.Output,
        also={404: "No such session."},
    )


ENDPOINTS = (
    _endpoint("/get_context", "v6GetContext", _old_answer, get_context_compat.Input),
    _endpoint("/api/context", "getContext", _answer, get_context.Input),
)
