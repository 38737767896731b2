"""How long a connection may keep the server waiting before its request is there.

Owns the time for a request's head. What uvicorn does itself, and only once a first request was answered, is the time an
idle connection may stay open. The time for a body is the guard's, who reads it.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_TOO_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


def patient_protocol(head_timeout_s: float) -> type[asyncio.Protocol]:
    """uvicorn's protocol, for connections whose requests begin within the time."""

    class Patient(_PatientProtocol):
        limit_s = head_timeout_s

    return Patient


class _PatientProtocol(HttpToolsProtocol):
    """Waits for a head from the connection on, from the first byte of a request on, and from whatever else comes between
    two requests: line breaks, or the rest of a body that was answered already."""

    limit_s: float
    _waiting: asyncio.TimerHandle | None = None
    _has_begun = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._waiting is None and (self.cycle is None or self.cycle.response_complete):
            self._wait()
        super().data_received(data)

    def on_message_begin(self) -> None:
        self._stop_waiting()
        self._has_begun = True
        self._wait()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        self._has_begun = False
        super().on_headers_complete()

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(self.limit_s, self._end)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _end(self) -> None:
        if self.transport.is_closing():
            return
        if self._has_begun and (self.cycle is None or self.cycle.response_complete):
            self.transport.write(_TOO_LATE)
        self.transport.close()
