"""Waiting until a source changes on disk.

Owns the watching; reading what changed is the service's.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from pathlib import Path

from ovillo.readers.protocol import Source

log = logging.getLogger(__name__)

#: Changes within this time are taken together (milliseconds); a new one is searchable well within a second.
_DEBOUNCE_MS = 250
#: Everything is looked at again this often: new clients, and changes the system did not report (network drives).
_AGAIN_S = 20.0


def changed_sources(sources: Sequence[Source], stop: threading.Event) -> list[Source] | None:
    """Blocks until something changed; the sources it happened in, or ``None`` for "look at all again"."""
    watched = {path: source for source in sources for path in (source.watch or (source.path,)) if path.exists()}
    if not watched:
        stop.wait(_AGAIN_S)
        return None
    import watchfiles  # start-up cost: only a process that watches pays for it

    try:
        changes = next(
            watchfiles.watch(
                *watched,
                watch_filter=None,
                debounce=_DEBOUNCE_MS,
                step=50,
                stop_event=stop,
                rust_timeout=round(_AGAIN_S * 1000),
                yield_on_timeout=True,
                raise_interrupt=False,
                ignore_permission_denied=True,
            ),
            None,
        )
    except (OSError, RuntimeError) as error:  # the system's limit of watches, usually
        log.warning("Watching is not possible (%s); looking every few seconds instead.", error)
        stop.wait(5)
        return None
    if not changes:
        return None
    touched = {Path(path) for _, path in changes}
    hit = [source for path, source in watched.items() if any(path == x or path in x.parents for x in touched)]
    return list({source.path: source for source in hit}.values()) or None
