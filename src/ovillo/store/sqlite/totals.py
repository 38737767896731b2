"""Sums over a session, by SQL aggregates: a session of 16,735 parts is summed in a few milliseconds."""

from __future__ import annotations

from typing import Any

import apsw

from ovillo.model.records import Namespace, SessionId, Usage
from ovillo.store.protocol import Totals
from ovillo.store.sqlite.connection import ReaderPool
from ovillo.store.sqlite.rows import PART_TYPES


class TotalsReads:
    _pool: ReaderPool

    def totals(
        self, namespace: Namespace, session_id: SessionId, *, inherited: bool = False, idle_cut_ms: int = 300_000
    ) -> Totals:
        with self._pool.reading() as db, db:
            row = db.execute(
                "SELECT s.key FROM sessions s WHERE s.namespace_key = (SELECT key FROM namespaces WHERE name = ?) AND s.id = ?",
                (namespace, session_id),
            ).fetchone()
            return Totals() if row is None else _sum(db, row[0], inherited, idle_cut_ms)


def _sum(db: apsw.Connection, key: int, inherited: bool, idle_cut_ms: int) -> Totals:
    mine = f"m.session_key = ? AND m.inherited_from IS {'NOT ' if inherited else ''}NULL"
    sums: tuple[Any, ...] = db.execute(
        "SELECT count(*), total(input), total(output), total(reasoning), total(cache_read), total(cache_write), total(cost),"
        " sum(error IS NOT NULL), min(created_at), max(max(coalesce(completed_at, created_at), created_at)),"
        " sum(role = 'user' AND author = 'human'), group_concat(DISTINCT agent), group_concat(DISTINCT model)"
        f" FROM messages m WHERE {mine}",
        (key,),
    ).fetchone()
    if not sums[0]:
        return Totals()
    parts: tuple[Any, ...] = db.execute(
        "SELECT count(*), total(p.additions), total(p.deletions) FROM messages m JOIN parts p ON p.message_key = m.key"
        f" WHERE {mine}",
        (key,),
    ).fetchone()
    by_type = db.execute(
        f"SELECT p.type, count(*) FROM messages m JOIN parts p ON p.message_key = m.key WHERE {mine} GROUP BY p.type",
        (key,),
    ).fetchall()
    tools = db.execute(
        "SELECT p.tool_name, count(*), sum(p.tool_status = 'error') FROM messages m JOIN parts p ON p.message_key = m.key"
        f" WHERE {mine} AND p.tool_name IS NOT NULL GROUP BY p.tool_name ORDER BY count(*) DESC, p.tool_name",
        (key,),
    ).fetchall()
    files = db.execute(
        "SELECT DISTINCT h.path FROM touches t JOIN paths h ON h.key = t.path_key JOIN parts p ON p.key = t.part_key"
        f" JOIN messages m ON m.key = p.message_key WHERE t.session_key = ? AND p.type = 5 AND {mine} ORDER BY h.path",
        (key, key),
    ).fetchall()
    active = db.execute(
        "SELECT total(min(gap, ?)) FROM (SELECT at - lag(at) OVER (ORDER BY at) AS gap FROM ("
        f"SELECT m.created_at AS at FROM messages m WHERE {mine} AND m.created_at IS NOT NULL"
        f" UNION ALL SELECT m.completed_at FROM messages m WHERE {mine} AND m.completed_at IS NOT NULL)) WHERE gap > 0",
        (idle_cut_ms, key, key),
    ).fetchone()[0]
    return Totals(
        messages=sums[0],
        parts=parts[0],
        prompts=sums[10] or 0,
        usage=Usage(*(int(value) for value in sums[1:6])),
        cost=sums[6],
        agents=_names(sums[11]),
        models=_names(sums[12]),
        parts_by_type={PART_TYPES[code].value: count for code, count in by_type},
        tools={name: (calls, failed or 0) for name, calls, failed in tools},
        errors=sums[7] or 0,
        additions=int(parts[1]),
        deletions=int(parts[2]),
        files=tuple(path for (path,) in files),
        first_at=sums[8],
        last_at=sums[9],
        active_ms=int(active),
    )


def _names(joined: str | None) -> tuple[str, ...]:
    return tuple(sorted(joined.split(","))) if joined else ()
