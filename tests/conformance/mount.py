"""The fixture at ``/mcp``."""

from __future__ import annotations

import os

from ovillo.interfaces.http.mounts import Mount, ServerContext
from ovillo.interfaces.mcp.http import sdk_mount
from tests.conformance.server import ConformanceServer

_KEY_BYTES = 32


def open_mount(context: ServerContext) -> Mount:
    server = ConformanceServer(os.urandom(_KEY_BYTES))
    sdk = sdk_mount(server.mcp, context, server.end_subscriptions)
    return Mount(routes=sdk.routes, lifespan=sdk.running)
