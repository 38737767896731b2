"""``/api/status``: healthy, degraded or in error, and why."""

from __future__ import annotations

from ovillo.interfaces.http.routes import Routes
from ovillo.interfaces.rest.from_tools import parameters, through
from ovillo.interfaces.tools.system_status import TOOL

routes = Routes("System")
through(routes, TOOL, "GET", "/api/status", query=parameters(TOOL, "include_sessions", "include_metrics"))
