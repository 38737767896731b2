"""``/api/sessions/{id}/export`` and ``/api/sessions/import`` (SPEC-015, sections 4.4 and 4.6).

Owns the requests and answers; the forms are ``sessions.transfer``'s.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ovillo.interfaces.http.endpoints import Endpoint, Exchange, Reply
from ovillo.interfaces.rest import shapes
from ovillo.interfaces.rest.sessions import shown
from ovillo.model.errors import InvalidInput
from ovillo.security.principals import HISTORY_READ, SESSIONS_WRITE
from ovillo.sessions.transfer.documents import MAX_IMPORT_BYTES

_TAG = "Transfer"
#: The envelope of an import of the largest size.
_MAX_BODY = MAX_IMPORT_BYTES + 64 * 1024
_NAMED = "json (default), jsonl, md, html or pdf"
_Format = Annotated[str, Meta(max_length=20, description=_NAMED)]


class ExportQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    format: _Format | None = None


class ExportRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """May be left out."""

    format: _Format | None = None


class ExportedSession(Struct, rename="camel", kw_only=True, omit_defaults=True):
    data: str
    filename: str
    #: ``base64`` for a PDF.
    encoding: str = "utf-8"
    #: What the form could not hold.
    notes: list[str] = []


class ImportRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    #: Not decoded with the body: how much it may become is checked first.
    data: Annotated[
        msgspec.Raw, Meta(description="An exported session: the text as a string, or its JSON object as it is")
    ]
    #: Taken, and of no effect: the answer of an export may be sent as it is.
    filename: str | None = None


class ImportedSession(Struct, rename="camel", kw_only=True, omit_defaults=True):
    session: shapes.SessionInfo
    #: Secrets masked before storing, by kind.
    redacted: Mapping[str, int] = {}


def _export(call: Exchange[ExportQuery, ExportRequest]) -> Reply:
    session = call.services.catalog.resolve(call.namespace, call.path["id"]).session
    form = call.query.format or call.body.format or "json"
    made = call.services.transfer.export(call.namespace, session.id, form)
    content = b"".join(made.chunks)
    if made.media_type == "application/pdf":
        data, encoding = base64.b64encode(content).decode(), "base64"
    else:
        data, encoding = content.decode(), "utf-8"
    return Reply(ExportedSession(data=data, filename=made.filename, encoding=encoding, notes=made.notes))


def _import(call: Exchange[Any, ImportRequest]) -> Reply:
    made = call.services.importer.import_session(call.namespace, _text(bytes(call.body.data)))
    reply = shown(call, made.row)
    body = ImportedSession(session=reply.body.session, redacted=made.redactions)
    return Reply(body, headers={**reply.headers, "Location": f"/api/sessions/{made.row.session.id}"})


def _text(data: bytes) -> str | bytes:
    if data.startswith(b"{"):
        return data
    try:
        return msgspec.json.decode(data, type=str)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise InvalidInput("data is no session.", hint="Give the exported text, or its JSON object.") from None


ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/sessions/{id}/export",
        "exportSession",
        "A session as a file: data and file name",
        _TAG,
        HISTORY_READ,
        _export,
        query=ExportQuery,
        body=ExportRequest,
        reply=ExportedSession,
        also={404: "No such session or format."},
    ),
    Endpoint(
        "POST",
        "/api/sessions/import",
        "importSession",
        "A new session out of an export; everything of it, or nothing when something does not fit",
        _TAG,
        SESSIONS_WRITE,
        _import,
        body=ImportRequest,
        reply=ImportedSession,
        status=201,
        max_body=_MAX_BODY,
        also={413: "More than 64 MiB, or more messages or values than a session has."},
    ),
)
