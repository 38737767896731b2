"""How long a connection may keep the server waiting before its request is there, and how much it may say until then.

Owns the time for a request's head, and its size: the parser keeps a head whole, however long it is, before anybody is asked
who they are. What uvicorn does itself, and only once a first request was answered, is the time an
idle connection may stay open. The time for a body is the guard's, who reads it.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_TOO_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
#: Bytes that are neither a whole head nor body: the beginning of a head, or what a chunked body has behind its end.
_MAX_HEAD_BYTES = 64 * 1024


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
    _head_bytes = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._waiting is None and (self.cycle is None or self.cycle.response_complete):
            self._wait()
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > _MAX_HEAD_BYTES:
            self._end(_TOO_LONG)

    def on_message_begin(self) -> None:
        self._stop_waiting()
        self._has_begun = True
        self._wait()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        self._has_begun = False
        self._head_bytes = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._head_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._head_bytes = 0
        super().on_message_complete()

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(self.limit_s, self._end)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _end(self, reason: bytes = _TOO_LATE) -> None:
        if self.transport.is_closing():
            return
        if self._has_begun and (self.cycle is None or self.cycle.response_complete):
            self.transport.write(reason)
        self.transport.close()
