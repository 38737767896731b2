"""``POST /get_context`` (mcp-v6-roadmap, "Query with Session Context") and ``POST /api/context``: one and the same."""

from __future__ import annotations

from typing import Any

from ovillo.interfaces.http.endpoints import Endpoint, Exchange, Reply
from ovillo.interfaces.tools import get_context
from ovillo.security.principals import CONTEXT_READ


def _answer(call: Exchange[Any, get_context.Input]) -> Reply:
    given = call.body
    session = call.services.catalog.resolve(call.namespace, given.session_id).session if given.session_id else None
    answer = call.services.context.get_context(
        call.namespace,
        given.query,
        session.id if session else None,
        resolve_references=given.resolve_references,
        max_tokens=given.max_tokens,
    )
    output = get_context.shown(answer)
    if session is not None:
        output.session_id = session.id
    return Reply(output)


def _endpoint(path: str, name: str) -> Endpoint:
    return Endpoint(
        "POST",
        path,
        name,
        "What answers a question, within a budget, with where it stands",
        "Context",
        CONTEXT_READ,
        _answer,
        body=get_context.Input,
        reply=get_context.Output,
        also={404: "No such session."},
    )


ENDPOINTS = (_endpoint("/get_context", "v6GetContext"), _endpoint("/api/context", "getContext"))
