"""Which session is calling a tool right now: the one with a running call of that tool with that input.

Owns the look-up in the live store (reference page on OpenCode, section 5: found at the first try in 0.7 ms).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import apsw

from ovillo.model.records import SessionId
from ovillo.readers.loose import dict_of, parsed, str_of
from ovillo.readers.opencode.tree import list_sessions
from ovillo.readers.protocol import Place
from ovillo.readers.session_files import read_document
from ovillo.readers.session_rows import opened

#: A call older than this was left running by a client that was killed.
_FRESH_MS = 600_000
_NEWEST_ROWS = 400
_NEWEST_FILES = 200


def running_call(place: Place, tool: str, arguments: Mapping[str, Any], where: str | None = None) -> SessionId | None:
    """The session whose call of ``<server>_<tool>`` with these arguments is running; ``where`` (a folder) decides
    between several. ``None`` when none is, or when several remain."""
    try:
        found = (
            _in_database(place.path, tool, arguments) if place.layout == "sqlite" else _in_tree(place, tool, arguments)
        )
    except (apsw.Error, OSError, LookupError, ValueError):
        return None
    if len(found) > 1 and where:
        found = {session: folder for session, folder in found.items() if folder == where}
    return SessionId(next(iter(found))) if len(found) == 1 else None


def _in_database(path: Path, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    with opened(path) as database:
        last = next(database.rows("SELECT max(rowid) AS last FROM part"))["last"] or 0
        for row in database.rows(
            "SELECT CAST(p.session_id AS BLOB) AS id, CAST(p.data AS BLOB) AS data, CAST(s.directory AS BLOB) AS directory"
            " FROM part p JOIN session s ON s.id = p.session_id WHERE p.rowid > ? ORDER BY p.rowid DESC",
            (last - _NEWEST_ROWS,),
        ):
            if _runs(parsed(row["data"]), tool, arguments):
                found.setdefault(row["id"], str_of(row["directory"]))
    return found


def _in_tree(place: Place, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for session in reversed(list_sessions(place.path, place.layout)[-3:]):
        messages = sorted(session.messages.glob("*.json"), key=lambda file: file.stat().st_mtime_ns)[-3:]
        for message in messages:
            for file in sorted((session.parts / message.stem).glob("*.json"))[-_NEWEST_FILES:]:
                if _runs(read_document(file), tool, arguments):
                    found.setdefault(session.id, str_of(dict_of(read_document(session.file)).get("directory")))
    return found


def _runs(part: object, tool: str, arguments: Mapping[str, Any]) -> bool:
    data = dict_of(part)
    state = dict_of(data.get("state"))
    name = str_of(data.get("tool"))
    started = dict_of(state.get("time")).get("start")
    fresh = not isinstance(started, int) or started > time.time() * 1000 - _FRESH_MS
    return (
        data.get("type") == "tool"
        and state.get("status") == "running"
        and (name == tool or name.endswith(f"_{tool}"))
        and dict_of(state.get("input")) == dict(arguments)
        and fresh
    )
