"""What every HTTP request passes before any route sees it: Host, Origin and body size.

Owns the guard against pages that rebind DNS to reach a local server, and errors as RFC 9457 problem JSON.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

import msgspec
from starlette.datastructures import Headers
from starlette.responses import Response

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY_BYTES = 4 * 1024 * 1024


def problem(status: int, title: str, detail: str) -> Response:
    """An error as every route of ours writes it."""
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    return Response(msgspec.json.encode(body), status, media_type="application/problem+json")


def is_loopback(host: str) -> bool:
    """True for ``localhost`` and loopback addresses; a name is not looked up, for it may change its mind."""
    name = host.strip("[]").lower().rstrip(".")
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


class Guard:
    """ASGI middleware in front of everything."""

    def __init__(self, app: App, max_body_bytes: int = MAX_BODY_BYTES) -> None:
        self._app = app
        self._max = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # RFC 9110 section 5.5: white space around a field's value is no part of it; httptools leaves it in.
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        headers = Headers(scope=scope)
        refusal = _wrong_host(headers) or _wrong_origin(headers) or self._too_large(headers)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        body = await self._read(receive) if "content-length" not in headers else None
        if body is not None and body.overflow:
            await _too_large(self._max)(scope, receive, send)
            return
        await self._app(scope, body.replay if body else receive, send)

    def _too_large(self, headers: Headers) -> Response | None:
        declared = headers.get("content-length", "0")
        return _too_large(self._max) if not declared.isdigit() or int(declared) > self._max else None

    async def _read(self, receive: Receive) -> _Body:
        """A body without a declared length, read up to the limit; one with a length is bounded by the server itself."""
        body = _Body(receive)
        while await body.more():
            if body.size > self._max:
                body.overflow = True
                return body
        return body


class _Body:
    """Messages already received, given again to the app."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._messages: list[Message] = []
        self.size = 0
        self.overflow = False

    async def more(self) -> bool:
        message = await self._receive()
        self._messages.append(message)
        self.size += len(message.get("body", b""))
        return message["type"] == "http.request" and bool(message.get("more_body"))

    async def replay(self) -> Message:
        return self._messages.pop(0) if self._messages else await self._receive()


def _too_large(limit: int) -> Response:
    return problem(413, "Body too large", f"A request body may hold {limit} bytes.")


def _wrong_host(headers: Headers) -> Response | None:
    host = headers.get("host", "")
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        name = ""
    if is_loopback(name):
        return None
    return problem(421, "Unknown host", "This server answers to loopback names only (127.0.0.1, localhost, [::1]).")


def _wrong_origin(headers: Headers) -> Response | None:
    origin = headers.get("origin")
    if origin is None:
        return None
    try:
        parts = urlsplit(origin)
        name = parts.hostname or ""
    except ValueError:
        return problem(403, "Foreign origin", "The Origin header is not a URL.")
    if parts.scheme in {"http", "https"} and is_loopback(name):
        return None
    return problem(403, "Foreign origin", f"Pages of {origin[:200]!r} may not use this server.")
