"""Reading endpoints that answer what the tools answer: search, history, lineage, statistics, recovery.

Owns which tool stands behind which path; arguments and answers are the tools' own.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from ovillo.interfaces.http.endpoints import Endpoint, Exchange, Handler, NoQuery, Reply
from ovillo.interfaces.tools import (
    get_session_history,
    get_session_lineage,
    get_session_stats,
    recover_context,
    search_sessions,
)
from ovillo.interfaces.tools.contract import Tool
from ovillo.interfaces.tools.registry import Registry
from ovillo.interfaces.tools.schema import wire_name
from ovillo.model.limits import LIST_LIMIT_MAX, MAX_ANSWER_TOKENS, SEARCH_LIMIT_MAX
from ovillo.security.principals import HISTORY_READ
from ovillo.sessions.calling import CallContext

_TAG = "Reading"


class SearchQuery(Struct, rename=wire_name, kw_only=True, forbid_unknown_fields=True):
    query: str | None = None
    agent: str | None = None
    project_id: str | None = None
    start_date: str | None = None
    end_date: str | None = None
    limit: Annotated[int, Meta(ge=1, le=SEARCH_LIMIT_MAX)] | None = None
    cursor: str | None = None


class HistoryQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    cursor: str | None = None
    limit: Annotated[int, Meta(ge=1, le=LIST_LIMIT_MAX)] | None = None
    around: str | None = None
    response_format: Literal["concise", "detailed"] | None = None


class RecoverQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    max_tokens: Annotated[int, Meta(ge=200, le=MAX_ANSWER_TOKENS)] | None = None


def _through(tool: Tool[Any]) -> Handler:
    registry = Registry([tool])

    def handle(call: Exchange[Any, None]) -> Reply:
        given = msgspec.to_builtins(call.query)
        arguments = {name: value for name, value in given.items() if value is not None}
        if "id" in call.path:
            arguments["sessionID"] = call.path["id"]
        context = CallContext(tool=tool.name, arguments=arguments, channel="rest")
        return Reply(registry.answer(call.services, call.principal, tool.name, arguments, context).structured)

    return handle


def _endpoint(path: str, name: str, tool: Tool[Any], query: type[Any] = NoQuery) -> Endpoint:
    return Endpoint(
        "GET",
        path,
        name,
        tool.title,
        _TAG,
        HISTORY_READ,
        _through(tool),
        query=query,
        reply=tool.output,
        also={404: "No such session."} if "{id}" in path else {},
    )


ENDPOINTS = (
    _endpoint("/api/search", "search", search_sessions.TOOL, SearchQuery),
    _endpoint("/api/sessions/{id}/history", "getSessionHistory", get_session_history.TOOL, HistoryQuery),
    _endpoint("/api/sessions/{id}/lineage", "getSessionLineage", get_session_lineage.TOOL),
    _endpoint("/api/sessions/{id}/stats", "getSessionStats", get_session_stats.TOOL),
    _endpoint("/api/sessions/{id}/recover", "recoverContext", recover_context.TOOL, RecoverQuery),
)
