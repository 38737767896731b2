"""The REST interface: resources under ``/api`` and the paths of MCP-HUB v6.

Owns the list of endpoints; how they are served is ``interfaces.http``.
"""

from __future__ import annotations

from ovillo.interfaces.http.endpoints import Endpoint
from ovillo.interfaces.rest import (
    changes,
    code,
    context,
    contexts,
    entities,
    forgetting,
    from_tools,
    knowledge,
    links,
    messages,
    sessions,
    snapshots,
    sources,
    status,
    timesheet,
    transfer,
    v6,
)

ENDPOINTS: tuple[Endpoint, ...] = (
    *sessions.ENDPOINTS,
    *messages.ENDPOINTS,
    *from_tools.ENDPOINTS,
    *snapshots.ENDPOINTS,
    *transfer.ENDPOINTS,
    *links.ENDPOINTS,
    *entities.ENDPOINTS,
    *code.ENDPOINTS,
    *knowledge.ENDPOINTS,
    *timesheet.ENDPOINTS,
    *context.ENDPOINTS,
    *contexts.ENDPOINTS,
    *status.ENDPOINTS,
    *sources.ENDPOINTS,
    *forgetting.ENDPOINTS,
    *changes.ENDPOINTS,
    *v6.ENDPOINTS,
)
