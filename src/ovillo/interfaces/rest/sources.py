"""``/api/sources``: the places that are read, and what could not be read. ``POST`` reads what is new now."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ovillo.interfaces.http.endpoints import Endpoint, Exchange, Reply
from ovillo.model.clock import to_iso
from ovillo.model.errors import PermissionDenied
from ovillo.model.records import DEFAULT_NAMESPACE
from ovillo.security.principals import ADMIN, HISTORY_READ


class Skipped(Struct, kw_only=True):
    file: str
    position: str
    reason: str


class Source(Struct, rename="camel", kw_only=True):
    reader: str
    title: str
    path: str
    status: str
    sessions: int
    messages: int
    skipped: list[Skipped]
    error: str | None


class Sources(Struct, rename="camel", kw_only=True):
    sources: list[Source]
    indexed_through: str | None


class Scanned(Struct, rename="camel", kw_only=True):
    sessions: int
    messages: int
    skipped: int
    elapsed_ms: int
    #: Another process is at it.
    busy: bool


def _list(call: Exchange[Any, None]) -> Reply:
    # The places and their damage are those of this machine's histories, which are all in one namespace.
    reports = call.services.ingest.sources() if call.namespace == DEFAULT_NAMESPACE else []
    return Reply(
        Sources(
            sources=[
                Source(
                    reader=report.reader,
                    title=report.title,
                    path=report.path,
                    status=report.status,
                    sessions=report.sessions,
                    messages=report.messages,
                    skipped=[Skipped(file=x.file, position=x.position, reason=x.reason) for x in report.skipped],
                    error=report.error,
                )
                for report in reports
            ],
            indexed_through=to_iso(call.services.scan_state.indexed_through()),
        )
    )


def _scan(call: Exchange[Any, None]) -> Reply:
    if call.namespace != DEFAULT_NAMESPACE:
        raise PermissionDenied(
            f"The histories of this machine belong to the namespace {DEFAULT_NAMESPACE}.", hint="Use a key of that one."
        )
    report = call.services.ingest.scan()
    return Reply(
        Scanned(
            sessions=report.sessions,
            messages=report.messages,
            skipped=report.skipped,
            elapsed_ms=report.elapsed_ms,
            busy=report.busy,
        )
    )


ENDPOINTS = (
    Endpoint(
        "GET", "/api/sources", "listSources", "Places that are read", "Sources", HISTORY_READ, _list, reply=Sources
    ),
    Endpoint(
        "POST", "/api/sources/scan", "scanSources", "Read what is new now", "Sources", ADMIN, _scan, reply=Scanned
    ),
)
