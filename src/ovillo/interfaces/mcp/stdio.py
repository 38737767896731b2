"""The MCP server on standard input and output.

Owns the process around it: what starts before and after the first answer, logs on stderr only, and exiting at once when
the client closes its end.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from ovillo.interfaces.log_lines import log_to_stderr
from ovillo.interfaces.mcp.lean_import import delay_package_inits

if TYPE_CHECKING:
    from ovillo.interfaces.services import Services
    from ovillo.settings import Settings

#: Background work starts after the first answer, or after this when a client requests nothing (seconds).
_IDLE_START_S = 3.0
#: Lets the answer leave before heavy imports block the interpreter (seconds).
_BREATH_S = 0.05
#: How long a thread keeps the interpreter (seconds). With Python's own 5 ms, a search beside the embedding of texts waits that long
#: for each statement.
_SWITCH_S = 0.0005


def run_stdio(open_services: Callable[[Settings], Services], settings: Settings) -> None:
    """Serve until standard input ends. Raises InvalidInput for an unknown toolset."""
    _log_to_stderr(settings)
    # The SDK's start builds thousands of live objects; collecting during it costs a tenth of it.
    gc.disable()
    delay_package_inits()
    from ovillo.interfaces.mcp.loop import (
        serve_stdio,
    )  # the SDK's import: 0.4 s and 40 MB that other commands save

    gc.freeze()
    gc.enable()
    sys.setswitchinterval(_SWITCH_S)
    ended_well = False
    with suppress(KeyboardInterrupt):
        ended_well = serve_stdio(lambda: _opened(open_services, settings), settings, _IDLE_START_S, _BREATH_S)
    if not ended_well or _others_running():
        # A call or scan in a thread would delay the exit; uncommitted data is read again.
        sys.stderr.flush()
        os._exit(0)


def _opened(open_services: Callable[[Settings], Services], settings: Settings) -> Services:
    from ovillo.interfaces import memory_release  # start-up cost: ctypes

    # Every thread that answers would get a heap of its own, and many of these processes run at once.
    memory_release.keep_little()
    return open_services(settings)


def _others_running() -> bool:
    return any(thread is not threading.main_thread() for thread in threading.enumerate())


def _log_to_stderr(settings: Settings) -> None:
    """Standard output is the protocol's. ``MCP_LOG_VERBOSE`` enables details of our own log, never contents."""
    log_to_stderr("DEBUG" if settings.log_verbose else settings.log_level.upper())
