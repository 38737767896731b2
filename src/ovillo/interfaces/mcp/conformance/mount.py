"""The fixture at ``/mcp``, and where it may be served.

Owns the refusal of every place that others could reach: the fixture answers whoever asks.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ovillo.interfaces.http.guard import is_loopback
from ovillo.interfaces.http.mounts import Mount, ServerContext
from ovillo.interfaces.mcp.conformance.server import ConformanceServer
from ovillo.interfaces.mcp.http import sdk_mount
from ovillo.model.errors import InvalidInput

if TYPE_CHECKING:
    from ovillo.settings import Settings

_KEY_BYTES = 32


def check_place(settings: Settings) -> None:
    """Raises InvalidInput unless the server listens on loopback and asks for no credentials (the suite sends none)."""
    if not is_loopback(settings.host):
        raise InvalidInput(
            f"--conformance-fixture is for tests on this machine, not for {settings.host or 'every address'}.",
            hint="Use --host 127.0.0.1, ::1 or localhost.",
        )
    if settings.auth != "none":
        raise InvalidInput(
            f"--conformance-fixture goes with --auth none; auth is {settings.auth!r}.",
            hint="The suite sends no credentials: pass --auth none.",
        )


def open_mount(context: ServerContext) -> Mount:
    server = ConformanceServer(os.urandom(_KEY_BYTES))
    sdk = sdk_mount(server.mcp, context, server.end_subscriptions)
    return Mount(routes=sdk.routes, lifespan=sdk.running)
