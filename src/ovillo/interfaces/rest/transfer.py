"""``/api/sessions/{id}/export`` and ``/api/sessions/import`` (SPEC-015, sections 4.4 and 4.6).

Owns the requests and answers; the forms are ``sessions.transfer``'s.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ovillo.interfaces.http.downloads import disposition
from ovillo.interfaces.http.endpoints import Endpoint, Exchange, Pieces, Reply
from ovillo.interfaces.rest import shapes
from ovillo.interfaces.rest.sessions import shown
from ovillo.model.errors import InvalidInput
from ovillo.security.principals import HISTORY_READ, SESSIONS_WRITE
from ovillo.sessions.transfer.documents import MAX_IMPORT_BYTES
from ovillo.sessions.transfer.service import Export

_TAG = "Transfer"
#: Longer exports are made while they are sent (bytes).
_WHOLE = 1024 * 1024
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
    """``{data, filename}``. A long one is made while it is sent, so that nobody holds it whole."""
    made = _made(call, call.query.format or call.body.format)
    return _whole_or_pieces(_wrapped(made), "application/json", made.filename)


def _download(call: Exchange[ExportQuery, None]) -> Reply:
    """The file itself."""
    made = _made(call, call.query.format)
    return _whole_or_pieces(made.chunks, made.media_type, made.filename)


def _made(call: Exchange[ExportQuery, Any], form: str | None) -> Export:
    session = call.services.catalog.resolve(call.namespace, call.path["id"]).session
    return call.services.transfer.export(call.namespace, session.id, form or "json")


def _whole_or_pieces(chunks: Iterator[bytes], media_type: str, filename: str) -> Reply:
    """What fits is answered whole, so that whatever goes wrong becomes an error and not half a file."""
    begun: list[bytes] = []
    size = 0
    for chunk in chunks:
        begun.append(chunk)
        size += len(chunk)
        if size > _WHOLE:
            return Reply(Pieces(chain(begun, chunks)), content_type=media_type, headers=disposition(filename))
    return Reply(b"".join(begun), content_type=media_type, headers=disposition(filename))


def _wrapped(made: Export) -> Iterator[bytes]:
    """The JSON of ``ExportedSession``, its ``data`` as it comes."""
    yield b'{"data":"'
    if made.media_type == "application/pdf":
        rest = b""
        for chunk in made.chunks:
            whole = len(rest) + len(chunk) - (len(rest) + len(chunk)) % 3
            given = rest + chunk
            yield base64.b64encode(given[:whole])
            rest = given[whole:]
        yield base64.b64encode(rest)
        encoding = "base64"
    else:
        for chunk in made.chunks:
            yield msgspec.json.encode(chunk.decode())[1:-1]
        encoding = "utf-8"
    tail = ExportedSession(data="", filename=made.filename, encoding=encoding, notes=made.notes)
    yield msgspec.json.encode(tail).replace(b'{"data":""', b'"', 1)


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
        deed="read",
    ),
    Endpoint(
        "GET",
        "/api/sessions/{id}/export",
        "downloadSession",
        "A session as a file, under its name",
        _TAG,
        HISTORY_READ,
        _download,
        query=ExportQuery,
        also={404: "No such session or format."},
        deed="read",
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
