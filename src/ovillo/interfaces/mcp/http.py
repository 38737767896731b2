"""The MCP server over streamable HTTP, inside the one outer app of ``ovillo serve``.

Owns routes, lifespan and binding. There is no authentication yet, so nothing but loopback is ever bound.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import msgspec
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ovillo import __version__
from ovillo.interfaces.mcp.backend import Backend
from ovillo.interfaces.mcp.guard import MAX_BODY_BYTES, Guard, is_loopback, problem
from ovillo.interfaces.mcp.loop import start_background, state_key
from ovillo.interfaces.mcp.server import OvilloServer
from ovillo.interfaces.tools.registry import Registry
from ovillo.model.errors import Conflict, InvalidInput, PermissionDenied

if TYPE_CHECKING:
    from ovillo.interfaces.services import Services
    from ovillo.settings import Settings

MCP_PATH = "/mcp"
#: How long open event streams may hold up the end of the server (seconds).
_GRACE_S = 2


def build_http_app(services: Services, settings: Settings) -> Starlette:
    """The outer app over services that somebody else closes. Watches the sources while its lifespan runs."""
    return _app(Backend(lambda: services), settings)


def run_http(
    open_services: Callable[[Settings], Services],
    settings: Settings,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve until interrupted; ``on_ready`` gets the MCP URL once the socket listens.

    Raises PermissionDenied for an address beyond loopback and Conflict for a port in use, both before anything is served.
    """
    listener = bind(settings.host, settings.port)
    with listener:
        services = open_services(settings)
        try:
            app = build_http_app(services, settings)
            config = uvicorn.Config(
                app,
                log_level="warning",
                access_log=False,
                timeout_graceful_shutdown=_GRACE_S,
                server_header=False,
                proxy_headers=False,
                ws="none",
            )
            if on_ready:
                on_ready(url_of(listener))
            uvicorn.Server(config).run(sockets=[listener])
        except KeyboardInterrupt:
            return
        finally:
            services.close()


def bind(host: str, port: int) -> socket.socket:
    """A listening socket on a loopback address; port 0 takes a free one. Raises PermissionDenied, Conflict, InvalidInput."""
    if not is_loopback(host):
        raise PermissionDenied(
            f"Not bound to {host}: without authentication anyone who reaches that address could read every session.",
            hint="Use 127.0.0.1, ::1 or localhost; for other machines forward the port, for example with ssh -L.",
        )
    if not 0 <= port <= 65_535:
        raise InvalidInput(f"Port {port} does not exist.", hint="Use 1 to 65535, or 0 for a free one.")
    address = "127.0.0.1" if host.lower().rstrip(".") == "localhost" else host.strip("[]")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise Conflict(
            f"{host}:{port} cannot be bound: {error.strerror or error}.", hint="Another server may use it; pass --port."
        ) from None
    return listener


def url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{MCP_PATH}"


def _app(backend: Backend, settings: Settings) -> Starlette:
    registry = Registry.choose(settings.toolsets, read_only=settings.read_only)
    server = OvilloServer(backend, registry, state_key=state_key(settings.data_dir))
    inner = server.mcp.streamable_http_app(
        streamable_http_path=MCP_PATH,
        max_request_body_size=MAX_BODY_BYTES,
        # The guard in front checks Host and Origin of every route; the SDK's check would refuse hosts without a port.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with server.mcp.session_manager.run():
            await start_background(server)
            try:
                yield
            finally:
                await anyio.to_thread.run_sync(backend.stop_background)

    async def ready(_: Request) -> Response:
        return await anyio.to_thread.run_sync(_readiness, backend)

    return Starlette(
        routes=[Route("/healthz", _health), Route("/readyz", ready), *inner.routes],
        middleware=[Middleware(Guard)],
        exception_handlers={HTTPException: _http_problem, Exception: _unexpected},  # type: ignore[dict-item]
        lifespan=lifespan,
    )


async def _health(_: Request) -> Response:
    """The process lives."""
    return _json({"status": "ok", "version": __version__})


def _readiness(backend: Backend) -> Response:
    """The store answers; ``indexedThrough`` is null until the first scan has finished."""
    try:
        through = backend.services().scan_state.indexed_through()
    except Exception as error:  # noqa: BLE001  The request edge: whatever fails, the answer is "not ready".
        return problem(503, "Not ready", f"The store cannot be read ({type(error).__name__}).")
    return _json({"status": "ready", "indexedThrough": through})


async def _http_problem(_: Request, error: HTTPException) -> Response:
    detail = f"There is no such page; MCP is at {MCP_PATH}." if error.status_code == 404 else error.detail
    return problem(error.status_code, error.detail, detail)


async def _unexpected(_: Request, error: Exception) -> Response:
    return problem(
        500, "Internal error", f"ovillo failed ({type(error).__name__}); the log of the server has the details."
    )


def _json(body: dict[str, object]) -> Response:
    return Response(msgspec.json.encode(body), media_type="application/json")
