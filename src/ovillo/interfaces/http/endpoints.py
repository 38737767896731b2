"""What an HTTP endpoint is: declared once, from which its route, its checks and its place in ``/openapi.json`` are made.

Owns the shape of a declaration; ``routes`` makes it from a handler. Errors are raised as ``OvilloError`` and become problem
JSON at the one edge.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import msgspec

from ovillo.interfaces.http.asgi import Scope
from ovillo.model.records import Namespace, SessionId
from ovillo.security.principals import Principal

if TYPE_CHECKING:
    from ovillo.interfaces.services import Services

Query = TypeVar("Query")
Body = TypeVar("Body")
Answer = TypeVar("Answer")
Result = TypeVar("Result")
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


class NoQuery(msgspec.Struct, forbid_unknown_fields=True):
    """An endpoint without parameters in its address."""


@dataclass(frozen=True, slots=True)
class Exchange(Generic[Query, Body]):
    """One request while it is answered. ``body`` is ``None`` where the endpoint declares none."""

    #: ``None`` where the endpoint needs none and the store is not open yet.
    opened: Services | None
    principal: Principal
    path: Mapping[str, str]
    query: Query
    body: Body
    #: Names in lower case.
    headers: Mapping[str, str]
    request_id: str
    #: Of the body as it was sent (bytes).
    size: int
    #: For coroutines: does some work in a thread, in line with everything else that this caller asked.
    apart: Callable[[Callable[[], Any]], Awaitable[Any]]
    #: The request as the server has it.
    asgi: Scope

    @property
    def address(self) -> str:
        """Path and parameters, as they were sent."""
        query = self.asgi["query_string"].decode("latin-1")
        path = (self.asgi.get("raw_path") or self.asgi["path"].encode()).decode("latin-1")
        return f"{path}?{query}" if query else path

    @property
    def route(self) -> str:
        """The template of the path."""
        return str(self.asgi["state"]["route"])

    async def in_thread(self, work: Callable[[], Result]) -> Result:
        done: Result = await self.apart(work)
        return done

    @property
    def services(self) -> Services:
        assert self.opened is not None, "an endpoint with needs_services=False asked for services"
        return self.opened

    @property
    def namespace(self) -> Namespace:
        return self.principal.namespace

    def session_id(self, ref: str | None = None) -> SessionId:
        """Of the session that ``{id}`` of the path names, or ``ref``. Raises NotFound and Ambiguous."""
        return self.services.catalog.resolve(self.namespace, self.path["id"] if ref is None else ref).session.id


@dataclass(frozen=True, slots=True)
class ChunkedBody:
    """A large answer, made while it is sent: ``chunks`` is read in a worker thread, as fast as the client takes it."""

    chunks: Iterator[bytes]


@dataclass(frozen=True, slots=True)
class Reply(Generic[Answer]):
    """``body`` is a struct or plain data (sent as JSON), bytes (sent as they are, with ``content_type``), an async
    iterator of bytes (a stream without end, ended when the client leaves or the server stops), ``ChunkedBody``, or ``None``."""

    body: Answer | bytes | ChunkedBody | AsyncIterator[bytes] | None = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"


#: A plain function runs in a worker thread and may block; a coroutine runs on the event loop and must not. What is no
#: ``Reply`` is the body of one.
Handler = Callable[[Exchange[Any, Any]], Any]


@dataclass(frozen=True, slots=True)
class Endpoint:
    method: Method
    #: As Starlette writes it: ``/api/sessions/{id}``.
    path: str
    #: Name of the operation in OpenAPI, unique.
    name: str
    summary: str
    #: Heading in OpenAPI.
    tag: str
    #: Needed scope (``ovillo.security.principals``); ``None`` makes it public.
    scope: str | None
    handler: Handler
    #: msgspec structs: parameters in the address (all from strings, ``strict=False``), body, answer.
    query: type[Any] = NoQuery
    body: type[Any] | None = None
    reply: type[Any] | None = None
    #: Status of a good answer, unless the reply says otherwise.
    status: int = 200
    #: Largest body in bytes; ``None`` is the server's usual limit.
    max_body: int | None = None
    #: Request headers that mean something here: name -> description.
    headers: Mapping[str, str] = field(default_factory=dict)
    #: If it is not set, the endpoint answers before the store is open and must not touch ``services``.
    needs_services: bool = True
    #: What it does with the session that ``{id}`` of its path names, for the audit.
    deed: Literal["read", "removed"] | None = None
    #: Other statuses this endpoint answers with on purpose: status -> when.
    also: Mapping[int, str] = field(default_factory=dict)
    #: For people: its body is a form, and it stands in no description for programs.
    is_page: bool = False
