"""The OpenCode reader: where its stores are, and what is new in each.

Owns discovery, cursors and the boundary of one session. A cursor holds one entry per session and, for a database,
the last row numbers seen (``#rows``).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import apsw

from ovillo.model.records import Inventory, SessionDelta, SessionId, SkippedRecord
from ovillo.readers.jsonl import stat_regular
from ovillo.readers.loose import count_of, dict_of, str_of
from ovillo.readers.opencode.database import OpenCodeTables
from ovillo.readers.opencode.forks import base_title, find_origin
from ovillo.readers.opencode.mapping import to_deltas
from ovillo.readers.opencode.raw import RawSession
from ovillo.readers.opencode.tree import SessionFile, list_sessions, read_session, signature
from ovillo.readers.protocol import Checkpoint, Cursor, Place, Progress, Record
from ovillo.readers.session_rows import Row, opened

_ROWS = "#rows"
#: Sessions that changed this recently may still be written without their row showing it.
_LIVE_MS = 600_000


class OpenCodeReader:
    name = "opencode"
    title = "OpenCode"
    shardable = False

    def discover(self, env: Mapping[str, str], home: Path) -> list[Place]:
        """0.5 (a tree per project), 1.0 to 1.1 (one tree), 1.2 on (databases, one per channel)."""
        share = Path(env["XDG_DATA_HOME"]) if env.get("XDG_DATA_HOME") else home / ".local" / "share"
        data = share / "opencode"
        places = []
        if (data / "project").is_dir():
            places.append(Place(self.name, data / "project", "json-v0", watch=(data / "project",), precedence=0))
        if (data / "storage" / "session").is_dir():
            places.append(Place(self.name, data / "storage", "json", watch=(data / "storage",), precedence=1))
        for file in _databases(data, env.get("OPENCODE_DB")):
            places.append(Place(self.name, file, "sqlite", watch=(file.parent,), precedence=2))
        return places

    def scan(self, place: Place, cursor: Cursor, only: SessionId | None = None) -> Iterator[Record]:
        """See ``readers.protocol``. Sessions come oldest change first."""
        if place.layout == "sqlite":
            yield from _scan_database(place.path, cursor, only)
        else:
            yield from _scan_tree(place, cursor, only)


def _databases(data: Path, named: str | None) -> list[Path]:
    if named == ":memory:":
        return []
    if named:
        file = Path(named) if Path(named).is_absolute() else data / named
        return [file] if file.is_file() else []
    try:
        return sorted(file for file in data.glob("opencode*.db") if file.is_file())
    except OSError:
        return []


# --- the JSON trees


def _scan_tree(place: Place, cursor: Cursor, only: SessionId | None) -> Iterator[Record]:
    files = list_sessions(place.path, place.layout)
    by_id = {file.id: file for file in files}
    now_ns = time.time_ns()
    todo = []
    for file in files:
        if only in (None, file.id):
            mark = signature(file, cursor.get(file.id), now_ns)
            if mark != cursor.get(file.id):
                todo.append((file, mark))
    if only is None:
        yield Progress(0)
    titles: list[tuple[str, str, str]] | None = None
    for file, mark in todo:
        skipped: list[SkippedRecord] = []
        try:
            raw = read_session(file, skipped)
            if raw is not None:
                if titles is None and base_title(str_of(raw.data.get("title"))) is not None:
                    titles = list(_titles(files))
                yield from _deltas(raw, titles or [], lambda other: _read_quietly(by_id.get(other)))
        except Exception as error:  # noqa: BLE001 - the boundary of one session: others must still be read
            skipped.append(SkippedRecord(str(file.file), "", f"not understood: {type(error).__name__}: {error}"))
        yield from skipped
        yield Checkpoint({file.id: mark})
    if only is None:
        if gone := {key: None for key in cursor if key not in by_id}:
            yield Checkpoint(dict(gone))
        yield Inventory(frozenset(SessionId(file.id) for file in files))


def _titles(files: list[SessionFile]) -> Iterator[tuple[str, str, str]]:
    for file in files:
        skipped: list[SkippedRecord] = []
        raw = read_session(
            SessionFile(file.id, file.file, Path("/nonexistent"), Path("/nonexistent"), project=file.project), skipped
        )
        if raw is not None:
            yield file.id, str_of(raw.data.get("title")), str_of(raw.data.get("projectID"))


def _read_quietly(file: SessionFile | None) -> RawSession | None:
    return None if file is None else read_session(file, [])


def _deltas(raw: RawSession, titles: list[tuple[str, str, str]], read: Any) -> Iterator[SessionDelta]:
    found = find_origin(raw, titles, read)
    origin, inherited = found if found is not None else (None, frozenset())
    yield from to_deltas(raw, origin, inherited)


# --- the database


def _scan_database(path: Path, cursor: Cursor, only: SessionId | None) -> Iterator[Record]:
    state = stat_regular(path)
    if state is None:
        return
    damage: list[SkippedRecord] = []
    try:
        with opened(path) as database:
            tables = OpenCodeTables(database, damage.append)
            for record in _scan_tables(tables, cursor, only, state.size):
                yield from damage
                damage.clear()
                yield record
    except (apsw.Error, OSError, LookupError, ValueError) as error:
        if only is None:
            damage.append(SkippedRecord(str(path), "", f"cannot be read as OpenCode's database: {error}"))
    yield from damage


def _scan_tables(tables: OpenCodeTables, cursor: Cursor, only: SessionId | None, size: int) -> Iterator[Record]:
    rows = tables.sessions()
    by_id = {str(row["id"]): row for row in rows}
    last = tables.last_rows()
    added = tables.touched_after(dict_of(cursor.get(_ROWS))) if cursor else set(by_id)
    newest = max((count_of(row["time_updated"]) for row in rows), default=0)
    todo = [
        row
        for row in rows
        if only in (None, row["id"])
        and (
            _mark(row) != cursor.get(str(row["id"]))
            or row["id"] in added
            or count_of(row["time_updated"]) > newest - _LIVE_MS
        )
    ]
    if only is None:
        yield Progress(size if todo else 0)
    titles = [(str(row["id"]), str_of(row["title"]), str_of(row["project_id"])) for row in rows]
    for row in todo:
        yield from _deltas(
            _read(tables, row, cursor), titles, lambda other: tables.read(by_id[other]) if other in by_id else None
        )
        yield Checkpoint({str(row["id"]): _mark(row)}, size // max(1, len(todo)))
    if only is None:
        gone = {key: None for key in cursor if key not in by_id and key != _ROWS}
        yield Checkpoint({**gone, _ROWS: last})
        yield Inventory(frozenset(map(SessionId, by_id)))


def _read(tables: OpenCodeTables, row: Row, cursor: Cursor) -> RawSession:
    """All of a session, or what changed where order and marks cannot be touched by it."""
    known = cursor.get(str(row["id"]))
    whole = (
        not isinstance(known, list) or row["revert"] or known[1:] != _mark(row)[1:] or base_title(str_of(row["title"]))
    )
    if not whole:
        part = tables.read(row, since=count_of(known[0] if isinstance(known, list) else 0))
        if not any(message.data.get("summary") is True for message in part.messages):
            return part
    return tables.read(row)


def _mark(row: Row) -> list[Any]:
    return [row["time_updated"], str_of(row["title"]), str_of(row["revert"]), row["time_archived"]]
