"""``/api/sessions/{id}/snapshots``: saved versions of a session's state, whole, and what changed between two.

Owns the requests and answers; fields are named as in the Continuity Protocol (2.1.2, 2.1.3).
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from ovillo.interfaces.http.endpoints import Endpoint, Exchange, Reply
from ovillo.interfaces.tools import session_restore, session_save
from ovillo.model.clock import to_iso
from ovillo.model.errors import InvalidInput
from ovillo.security.principals import HISTORY_READ, SESSIONS_WRITE
from ovillo.sessions.snapshot_encoding import DEFAULT_LEVEL, MAX_PLAIN_BYTES
from ovillo.store.protocol import Snapshot

_TAG = "Snapshots"
#: The envelope of a state of the largest size.
_MAX_BODY = MAX_PLAIN_BYTES + 64 * 1024
_NEWEST = "latest"


class NewSnapshot(Struct, kw_only=True, forbid_unknown_fields=True):
    content: dict[str, Any]
    compression_level: Annotated[int, Meta(ge=0, le=3)] = DEFAULT_LEVEL


class PageQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    limit: Annotated[int, Meta(ge=1, le=1_000)] = 50
    #: Only versions older than this one: ``next_before`` of the page before.
    before: Annotated[int, Meta(ge=1)] | None = None


class SnapshotInfo(Struct, kw_only=True):
    version: int
    saved_at: str | None
    compression_level: int
    bytes: int
    stored_bytes: int
    #: Version that the stored bytes rest on; ``null`` for one that stands alone.
    delta_of: int | None
    #: BLAKE2b (256 bits) of the JSON text.
    checksum: str


class SnapshotList(Struct, kw_only=True):
    snapshots: list[SnapshotInfo]
    total: int
    next_before: int | UnsetType = UNSET


class RestoredSnapshot(Struct, kw_only=True):
    success: bool
    version: int
    content: dict[str, Any]
    metadata: dict[str, Any]
    snapshot: SnapshotInfo


class DiffQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    limit: Annotated[int, Meta(ge=1, le=100_000)] = 1_000


class DiffOperation(Struct, kw_only=True):
    """One operation of a JSON Patch (RFC 6902), and what was there before it."""

    op: str
    path: str
    value: Any = UNSET
    was: Any = UNSET


class SnapshotChanges(Struct, kw_only=True):
    from_version: int
    to_version: int
    changes: list[DiffOperation]
    total: int
    #: False when ``limit`` left some out: the rest is no whole patch then.
    complete: bool


def _list(call: Exchange[PageQuery, None]) -> Reply:
    session = _session(call)
    page = call.services.snapshots.versions(
        call.namespace, session.id, before=call.query.before, limit=call.query.limit
    )
    return Reply(
        SnapshotList(
            snapshots=[_info(row) for row in page.versions],
            total=page.total,
            next_before=UNSET if page.before is None else page.before,
        )
    )


def _save(call: Exchange[Any, NewSnapshot]) -> Reply:
    session = _session(call)
    saved = call.services.snapshots.save(call.namespace, session.id, call.body.content, call.body.compression_level)
    where = f"/api/sessions/{session.id}/snapshots/{saved.snapshot.version}"
    return Reply(session_save.answered(session.id, saved), headers={"Location": where})


def _restore(call: Exchange[Any, None]) -> Reply:
    session = _session(call)
    restored = call.services.snapshots.restore(call.namespace, session.id, _version(call.path["version"]))
    snapshot = restored.snapshot
    return Reply(
        RestoredSnapshot(
            success=True,
            version=snapshot.version,
            content=restored.content,
            metadata=session_restore.own_metadata(session),
            snapshot=_info(snapshot),
        )
    )


def _diff(call: Exchange[DiffQuery, None]) -> Reply:
    session = _session(call)
    versions = _version(call.path["version"]), _version(call.path["other"])
    found = call.services.snapshots.diff(call.namespace, session.id, *versions)
    shown = found.changes[: call.query.limit]
    return Reply(
        SnapshotChanges(
            from_version=found.from_version,
            to_version=found.to_version,
            changes=[operation(change.op, change.path, change.value, change.was) for change in shown],
            total=len(found.changes),
            complete=len(shown) == len(found.changes),
        )
    )


def operation(op: str, path: str, value: Any, was: Any) -> DiffOperation:
    return DiffOperation(op=op, path=path, value=UNSET if op == "remove" else value, was=UNSET if op == "add" else was)


def _session(call: Exchange[Any, Any]) -> Any:
    return call.services.catalog.resolve(call.namespace, call.path["id"]).session


def _version(text: str) -> int | None:
    """``None`` is the newest. Raises InvalidInput."""
    if text == _NEWEST:
        return None
    if text.isdecimal() and len(text) <= 15:
        return int(text)
    raise InvalidInput(f"{text[:40]!r} is no version.", hint=f"Versions are 1, 2, 3 ..., or {_NEWEST}.")


def _info(row: Snapshot) -> SnapshotInfo:
    return SnapshotInfo(
        version=row.version,
        saved_at=to_iso(row.saved_at),
        compression_level=row.level,
        bytes=row.plain_bytes,
        stored_bytes=row.stored_bytes,
        delta_of=row.base,
        checksum=row.checksum.hex(),
    )


_PATH = "/api/sessions/{id}/snapshots"
_ABSENT = {404: "No such session or version."}

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        "GET",
        _PATH,
        "listSnapshots",
        "Saved versions, newest first",
        _TAG,
        HISTORY_READ,
        _list,
        query=PageQuery,
        reply=SnapshotList,
        also=_ABSENT,
        deed="read",
    ),
    Endpoint(
        "POST",
        _PATH,
        "saveSnapshot",
        "Save the next version of the session's state",
        _TAG,
        SESSIONS_WRITE,
        _save,
        body=NewSnapshot,
        reply=session_save.Output,
        status=201,
        max_body=_MAX_BODY,
        also={**_ABSENT, 413: "More than 64 MiB, or nested too deeply."},
    ),
    Endpoint(
        "GET",
        f"{_PATH}/{{version}}",
        "restoreSnapshot",
        "A saved version, whole (latest: the newest)",
        _TAG,
        HISTORY_READ,
        _restore,
        reply=RestoredSnapshot,
        also={**_ABSENT, 500: "The version is damaged; the answer names the newest sound one."},
        deed="read",
    ),
    Endpoint(
        "GET",
        f"{_PATH}/{{version}}/diff/{{other}}",
        "diffSnapshots",
        "What leads from one version to another, as a JSON Patch",
        _TAG,
        HISTORY_READ,
        _diff,
        query=DiffQuery,
        reply=SnapshotChanges,
        also=_ABSENT,
        deed="read",
    ),
)
