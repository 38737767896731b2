"""Asking an address that the settings name, over HTTP.

Owns that no answer leads elsewhere (a key must not follow a redirect to another host) and that none is longer, or takes longer,
than the caller allows.
"""

from __future__ import annotations

import time
import urllib.request
from typing import Any

_CHUNK = 64 * 1024


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


_open = urllib.request.build_opener(_NoRedirect).open


def fetch(request: urllib.request.Request, *, timeout_s: float, max_bytes: int) -> bytes:
    """The body, within the time as a whole: a server that trickles must not hold us.

    Raises OSError (``HTTPError`` for a status of 300 or more, TimeoutError), and ValueError for what is too long."""
    deadline = time.monotonic() + timeout_s
    body = bytearray()
    with _open(request, timeout=timeout_s) as answer:
        while chunk := answer.read1(_CHUNK):
            body += chunk
            if len(body) > max_bytes:
                raise ValueError(f"more than {max_bytes:,} bytes")
            if time.monotonic() > deadline:
                raise TimeoutError(f"not done within {timeout_s:g} s")
    return bytes(body)
