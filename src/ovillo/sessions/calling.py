"""Which session is calling (DESIGN section 8). (Being written.)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ovillo.model.records import Namespace
from ovillo.sessions.views import Calling


@dataclass(frozen=True, slots=True)
class CallContext:
    """What the interface knows of a call."""

    tool: str
    arguments: Mapping[str, Any]
    #: ``_meta`` of the MCP request.
    meta: Mapping[str, Any] = field(default_factory=dict)
    client_name: str | None = None
    roots: tuple[str, ...] = ()


class CallingSession:
    def find(self, namespace: Namespace, call: CallContext) -> Calling:
        """Never raises; an unknown caller has ``session_id`` None and says why."""
        raise NotImplementedError
