"""The SQLite generation: ``opencode.db`` with its write-ahead log.

Owns the queries over OpenCode's tables and what tells that a session changed. Never opens a table with
credentials (account, control_account, credential, session_share).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import apsw

from ovillo.model.records import SkippedRecord
from ovillo.readers.jsonl import decode_any
from ovillo.readers.loose import count_of, dict_of, dicts_of, id_of, parsed, str_of
from ovillo.readers.opencode.raw import RawMessage, RawSession
from ovillo.readers.session_rows import Database, Row

_SESSION = (
    *("id", "project_id", "workspace_id", "parent_id", "slug", "directory", "path", "title", "version", "share_url"),
    *("summary_additions", "summary_deletions", "summary_files", "revert", "permission", "agent", "model", "metadata"),
    *("time_created", "time_updated", "time_archived"),
)
#: Only messages and parts written since are read again, with this much to spare (milliseconds).
_OVERLAP_MS = 5_000


class OpenCodeTables:
    """OpenCode's tables in one snapshot. Raises LookupError when they are not OpenCode's."""

    def __init__(self, database: Database, skipped: Callable[[SkippedRecord], None]) -> None:
        tables = {name: database.table(name) for name in ("session", "message", "part")}
        if any(table is None for table in tables.values()):
            raise LookupError("holds none of OpenCode's tables")
        self._database = database
        self._skipped = skipped
        self._session = tables["session"]
        self._message = tables["message"]
        self._part = tables["part"]
        self._todo = database.table("todo")
        self._project = database.table("project")

    def sessions(self) -> list[Row]:
        """Rows of all sessions, oldest change first."""
        assert self._session is not None
        sql = f"SELECT {self._session.pick(*_SESSION)} FROM session"
        rows = [row for row in self._rows("session", sql) if id_of(row["id"])]
        return sorted(rows, key=lambda row: (count_of(row["time_updated"]), row["id"]))

    def last_rows(self) -> dict[str, int]:
        """Highest row number of messages and parts: a cheap sign that something was added."""
        found = {}
        for table in ("message", "part"):
            row = next(self._rows(table, f"SELECT max(rowid) AS last FROM {table}"), {"last": 0})
            found[table] = count_of(row["last"])
        return found

    def touched_after(self, last: Mapping[str, Any]) -> set[str]:
        """Sessions with messages or parts added after these row numbers."""
        found: set[str] = set()
        for table in ("message", "part"):
            sql = f"SELECT DISTINCT CAST(session_id AS BLOB) AS id FROM {table} WHERE rowid > ?"
            found |= {str_of(row["id"]) for row in self._rows(table, sql, (count_of(last.get(table)),))}
        return found

    def read(self, row: Row, since: int | None = None) -> RawSession:
        """One session; with ``since`` (milliseconds) only the messages that changed after it."""
        raw = RawSession(str(row["id"]), _session_data(row))
        raw.worktree = self._worktree(row["project_id"])
        raw.todos = self._todos(raw.id)
        parts: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        limit = "" if since is None else " AND time_updated >= ?"
        bound: tuple[Any, ...] = (raw.id,) if since is None else (raw.id, since - _OVERLAP_MS)
        changed: set[str] | None = None
        if since is not None:
            sql = f"SELECT DISTINCT CAST(message_id AS BLOB) AS id FROM part WHERE session_id = ?{limit}"
            changed = {str_of(x["id"]) for x in self._rows("part", sql, bound)}
            sql = f"SELECT CAST(id AS BLOB) AS id FROM message WHERE session_id = ?{limit}"
            changed |= {str_of(x["id"]) for x in self._rows("message", sql, bound)}
            raw.partial = True
        for item in self._items("part", raw.id, "message_id", changed):
            parts.setdefault(str_of(item["message_id"]), []).append((item["id"], item["data"]))
        for item in self._items("message", raw.id, "id", changed):
            data = item["data"]
            time = data.setdefault("time", {})
            if isinstance(time, dict):
                time.setdefault("created", item["time_created"])
            raw.messages.append(
                RawMessage(item["id"], data, sorted(parts.get(item["id"], []), key=lambda part: part[0]))
            )
        return raw

    def _items(self, table: str, session_id: str, key: str, only: set[str] | None) -> Iterator[Row]:
        picked = self._part if table == "part" else self._message
        assert picked is not None
        columns = picked.pick("id", "time_created", "data", *(["message_id"] if table == "part" else []))
        if only is None:
            queries = [(f"SELECT {columns} FROM {table} WHERE session_id = ?", (session_id,))]
        else:
            column = "message_id" if key == "message_id" else "id"
            queries = [(f"SELECT {columns} FROM {table} WHERE {column} = ?", (one,)) for one in sorted(only)]
        for sql, bound in queries:
            for row in self._rows(table, sql, bound):
                item_id = id_of(row["id"])
                data = self._decoded(table, row)
                if item_id is not None and data is not None:
                    yield {**row, "id": item_id, "data": data}

    def _decoded(self, table: str, row: Row) -> dict[str, Any] | None:
        try:
            value = decode_any(str(row["data"]).encode())
        except (ValueError, RecursionError) as error:
            self._skipped(SkippedRecord(self._database.name, f"{table} {row['id']}", f"not readable as JSON: {error}"))
            return None
        if not isinstance(value, dict):
            self._skipped(SkippedRecord(self._database.name, f"{table} {row['id']}", "holds no JSON object"))
            return None
        return value

    def _todos(self, session_id: str) -> list[dict[str, Any]]:
        if self._todo is None:
            return []
        sql = f"SELECT {self._todo.pick('content', 'status', 'priority')} FROM todo WHERE session_id = ? ORDER BY position"
        return list(self._rows("todo", sql, (session_id,)))

    def _worktree(self, project_id: object) -> str | None:
        if self._project is None:
            return None
        sql = f"SELECT {self._project.pick('worktree')} FROM project WHERE id = ?"
        row = next(self._rows("project", sql, (project_id,)), None)
        return str_of(row["worktree"]) or None if row else None

    def _rows(self, table: str, sql: str, parameters: tuple[Any, ...] = ()) -> Iterator[Row]:
        """Rows until a damaged page ends them; that is listed, what was read is kept."""
        try:
            yield from self._database.rows(sql, parameters)
        except apsw.Error as error:
            self._skipped(SkippedRecord(self._database.name, f"table {table}", f"rows lost to damage: {error}"))


def _session_data(row: Row) -> dict[str, Any]:
    """A row in the words of the JSON tree."""
    model = parsed(row["model"])
    return {
        "projectID": row["project_id"],
        "workspaceID": row["workspace_id"],
        "parentID": row["parent_id"],
        "slug": row["slug"],
        "directory": row["directory"],
        "path": row["path"],
        "title": row["title"],
        "version": row["version"],
        "share": {"url": row["share_url"]} if row["share_url"] else None,
        "summary": {
            "additions": row["summary_additions"],
            "deletions": row["summary_deletions"],
            "files": row["summary_files"],
        },
        "revert": parsed(row["revert"]),
        "permission": dicts_of(parsed(row["permission"])),
        "agent": row["agent"],
        "model": dict_of(model) or ({"id": model} if isinstance(model, str) else {}),
        "metadata": dict_of(parsed(row["metadata"])),
        "time": {"created": row["time_created"], "updated": row["time_updated"], "archived": row["time_archived"]},
    }
