"""The command ``ovillo``, and opening everything it needs.

Owns which store and analyzer are opened, and which interface a command runs; ``composition`` builds the services.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ovillo.model.ending import leave
from ovillo.model.quiet import stop_downloads

#: Objects in cycles before Python looks for garbage (its own figure: 700).
_GARBAGE = 20_000

if TYPE_CHECKING:
    from ovillo.composition import Composition
    from ovillo.interfaces.services import OpenServices
    from ovillo.model.clock import Clock
    from ovillo.model.workers import WorkerState
    from ovillo.settings import Settings


def open_services(settings: Settings, clock: Clock | None = None) -> Composition:
    """Everything an interface needs; ``clock`` stands in for the machine's. Raises StoreUnavailable, IntegrityError, InvalidInput."""
    from ovillo.composition import Composition
    from ovillo.model.clock import system_clock
    from ovillo.model.workers import Workers
    from ovillo.search.analysis import TextAnalyzer
    from ovillo.store.engine import open_store

    def tell(failing: Sequence[WorkerState]) -> None:
        from ovillo.sessions.failing_work import FailingWork  # only when something fails

        FailingWork(settings.data_dir).tell(failing)

    gc.enable()
    clock = clock or system_clock
    return Composition(settings, clock, open_store(settings.database, TextAnalyzer(), clock), Workers(tell))


def main() -> None:
    """The ``ovillo`` command."""
    # Importing creates only objects that stay: collecting garbage among them costs a tenth of the start. Later, a short
    # command has nothing worth collecting.
    gc.disable()
    gc.set_threshold(_GARBAGE)
    stop_downloads()
    if sys.argv[1:] == ["statusline"]:
        _run_status_line()
        return
    from ovillo.interfaces.cli.main import run  # importing this module must stay cheap for MCP

    try:
        run(open_services, _run_stdio, _run_http)
    except SystemExit as left:
        leave(left)


def _run_status_line() -> None:
    """Runs after every answer of a client, so no command line is built for it: that takes as long as everything else."""
    import os

    from ovillo.interfaces.status_line import run

    def opened() -> Composition | None:
        from ovillo.settings import load_settings

        settings = load_settings(os.environ, {})
        return open_services(settings) if settings.database.exists() else None

    run(opened)


def _run_stdio(open_services: OpenServices, settings: Settings) -> None:
    from ovillo.interfaces.mcp.stdio import run_stdio

    run_stdio(open_services, settings)


def _run_http(open_services: OpenServices, settings: Settings, on_ready: Callable[[str], None]) -> None:
    from ovillo.interfaces.http.server import serve
    from ovillo.interfaces.mcp.http import mount as mcp_mount
    from ovillo.interfaces.rest.mount import open_mount as rest_mount
    from ovillo.interfaces.web.mount import open_mount as web_mount
    from ovillo.interfaces.websocket.mount import open_mount as websocket_mount

    serve(open_services, settings, (mcp_mount, rest_mount, websocket_mount, web_mount), on_ready)
