"""``/api/status``: healthy, degraded or in error, and why. Owns the request; the answer is the tool's."""

from __future__ import annotations

from msgspec import Struct

from ovillo.interfaces.http.endpoints import Endpoint, Exchange, Reply
from ovillo.interfaces.tools import system_status
from ovillo.security.principals import ADMIN


class Asked(Struct, kw_only=True, forbid_unknown_fields=True):
    include_sessions: bool = False
    include_metrics: bool = False


def _status(call: Exchange[Asked, None]) -> Reply:
    asked = call.query
    status = call.services.status.status(
        call.namespace, include_sessions=asked.include_sessions, include_metrics=asked.include_metrics
    )
    return Reply(system_status.shown(status))


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/status",
        "systemStatus",
        "Status of the system",
        "System",
        ADMIN,
        _status,
        query=Asked,
        reply=system_status.Output,
    ),
)
