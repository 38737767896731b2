"""One very long session: 16,735 parts in an OpenCode database, read over MCP stdio.

    python -m bench.long_session [--parts 16735]

Bars (DESIGN section 17): a page of history, the lineage and the statistics at most 50 ms each warm, the first page
of a fresh server at most 150 ms. The database is made here, in the layout of OpenCode's SQLite generation.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.contestants import OVILLO, environment_of, run_all
from bench.servers import OvilloServer
from bench.stdio_client import StdioClient
from bench.tables import keep, percentile, table, verdict

_SCHEMA = """
CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL, vcs text, name text, icon_url text, icon_url_override text,
    icon_color text, time_created integer NOT NULL, time_updated integer NOT NULL, time_initialized integer, sandboxes text NOT NULL,
    commands text);
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, workspace_id text, parent_id text, slug text NOT NULL,
    directory text NOT NULL, path text, title text NOT NULL, version text NOT NULL, share_url text, summary_additions integer,
    summary_deletions integer, summary_files integer, summary_diffs text, metadata text, cost real DEFAULT 0 NOT NULL,
    tokens_input integer DEFAULT 0 NOT NULL, tokens_output integer DEFAULT 0 NOT NULL, tokens_reasoning integer DEFAULT 0 NOT NULL,
    tokens_cache_read integer DEFAULT 0 NOT NULL, tokens_cache_write integer DEFAULT 0 NOT NULL, revert text, permission text,
    agent text, model text, time_created integer NOT NULL, time_updated integer NOT NULL, time_compacting integer,
    time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
    data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE todo (session_id text NOT NULL, content text NOT NULL, status text NOT NULL, priority text NOT NULL,
    position integer NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, PRIMARY KEY (session_id, position));
"""
_BEGUN = 1_790_000_000_000
_ROOT = "/home/dev/src/long"
_MODEL = {"providerID": "anthropic", "modelID": "claude-sonnet-5"}


def make_database(path: Path, parts: int) -> str:
    """One root session with ``parts`` parts and 40 sub-agents; the session's id."""
    path.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path)
    database.executescript("PRAGMA journal_mode = WAL;" + _SCHEMA)
    database.execute(
        "INSERT INTO project (id, worktree, vcs, time_created, time_updated, sandboxes) VALUES ('p1', ?, 'git', ?, ?, '[]')",
        (_ROOT, _BEGUN, _BEGUN),
    )
    long = _Writer(database, "ses_long0001", None)
    while long.parts < parts:
        long.turn(min(40, parts - long.parts))
    long.close()
    for number in range(40):
        child = _Writer(database, f"ses_child{number:04d}", "ses_long0001")
        child.turn(6)
        child.close()
    database.commit()
    database.close()
    return "ses_long0001"


class _Writer:
    def __init__(self, database: sqlite3.Connection, session: str, parent: str | None) -> None:
        self._database, self._session, self._parent = database, session, parent
        self._rng = random.Random(session)
        self._now = _BEGUN
        self._messages = 0
        self.parts = 0

    def turn(self, parts: int) -> None:
        """A prompt (one part) and answers with ``parts - 1`` parts in all."""
        asked = self._message({"role": "user", "agent": "build", "model": _MODEL})
        self._part(
            asked, {"type": "text", "text": f"Please look at step {self.parts} of the import: {self._words(12)}"}
        )
        left = parts - 1
        while left > 0:
            tokens = {"input": 40, "output": 120, "reasoning": 0, "cache": {"read": 9000, "write": 300}}
            path = {"cwd": _ROOT, "root": _ROOT}
            answer = self._message(
                {
                    "role": "assistant",
                    "parentID": asked,
                    **_MODEL,
                    "mode": "build",
                    "agent": "build",
                    "path": path,
                    "cost": 0.01,
                    "tokens": tokens,
                }
            )
            for _ in range(min(left, 5)):
                self._part(answer, self._some_part())
                left -= 1

    def close(self) -> None:
        row = (
            self._session,
            "p1",
            self._parent,
            self._session,
            _ROOT,
            f"Import of {self._session}",
            "1.4.0",
            _BEGUN,
            self._now,
        )
        self._database.execute(
            "INSERT INTO session (id, project_id, parent_id, slug, directory, title, version, time_created, time_updated)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )

    def _some_part(self) -> dict[str, Any]:
        kind = self._rng.random()
        if kind < 0.3:
            return {"type": "text", "text": self._words(60)}
        if kind < 0.45:
            return {"type": "reasoning", "text": self._words(40), "time": {"start": self._now, "end": self._now + 5}}
        state = {
            "status": "completed",
            "input": {"command": f"rg {self._words(1)} src"},
            "output": self._words(self._rng.randrange(20, 400)),
            "title": "rg",
            "metadata": {},
            "time": {"start": self._now, "end": self._now + 40},
        }
        return {"type": "tool", "callID": f"call_{self._session}_{self.parts}", "tool": "bash", "state": state}

    def _words(self, count: int) -> str:
        return " ".join(f"{self._rng.choice(_WORDS)}{self._rng.choice(_ENDS)}" for _ in range(count))

    def _message(self, data: dict[str, Any]) -> str:
        self._now += self._rng.randrange(1_000, 9_000)
        self._messages += 1
        own = f"msg_{self._session}_{self._messages:06d}"
        data["time"] = {"created": self._now, "completed": self._now + 900}
        self._database.execute(
            "INSERT INTO message VALUES (?, ?, ?, ?, ?)", (own, self._session, self._now, self._now, json.dumps(data))
        )
        return own

    def _part(self, message: str, data: dict[str, Any]) -> None:
        self.parts += 1
        row = (f"prt_{self._session}_{self.parts:06d}", message, self._session, self._now, self._now, json.dumps(data))
        self._database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)


_WORDS = (
    "import",
    "table",
    "row",
    "batch",
    "index",
    "worker",
    "queue",
    "retry",
    "schema",
    "column",
    "lock",
    "stream",
    "cursor",
    "offset",
)
_ENDS = ("", "", "s", "_id", "Handler", "2", ".ts", "Error")


def measure(home: Path, session: str, rounds: int) -> dict[str, Any]:
    cold: list[float] = []
    warm: dict[str, list[float]] = {"history page": [], "lineage": [], "stats": []}
    asks: dict[str, tuple[str, dict[str, Any]]] = {
        "history page": ("get_session_history", {"sessionID": session, "limit": 50}),
        "lineage": ("get_session_lineage", {"sessionID": session}),
        "stats": ("get_session_stats", {"sessionID": session}),
    }
    argv, environment = [sys.executable, "-m", "ovillo", "mcp"], environment_of(home)
    for _ in range(3):
        with StdioClient(argv, environment) as client:
            result, seconds = client.call(*asks["history page"])
            cold.append(seconds * 1000)
    with StdioClient(argv, environment) as client:
        for _ in range(rounds):
            for name, ask in asks.items():
                warm[name].append(client.call(*ask)[1] * 1000)
        parts = client.call("get_session_stats", {"sessionID": session})[0]["structuredContent"]["partCount"]
    return {
        "first_page_ms": cold,
        "warm_ms": warm,
        "parts": parts,
        "error": result["content"] if result.get("isError") else "",
    }


def pages(home: Path, session: str, rounds: int) -> list[tuple[str, float, float, int]]:
    """First, far and last pages over MCP and REST: p50 and most (ms), and bytes."""
    found = []

    def note(name: str, ask: Callable[[], tuple[float, int]]) -> None:
        ask()
        asked = [ask() for _ in range(rounds)]
        times = [ms for ms, _ in asked]
        found.append((name, percentile(times, 0.5), max(times), asked[-1][1]))

    with StdioClient([sys.executable, "-m", "ovillo", "mcp"], environment_of(home)) as client:

        def tool(cursor: str | None) -> tuple[float, int]:
            given = {"sessionID": session, "limit": 50, **({"cursor": cursor} if cursor else {})}
            result, seconds = client.call("get_session_history", given)
            return seconds * 1000, len(json.dumps(result, ensure_ascii=False).encode())

        cursors: list[str | None] = [None]
        while cursors[-1] is not None or len(cursors) == 1:
            given = {"sessionID": session, "limit": 50, **({"cursor": cursors[-1]} if cursors[-1] else {})}
            cursors.append(client.call("get_session_history", given)[0]["structuredContent"].get("nextCursor"))
        cursors.pop()
        places = (("first", 0), ("middle", len(cursors) // 2), ("last", len(cursors) - 1))
        for name, at in places:
            note(f"MCP, {name} of {len(cursors)}", lambda at=at: tool(cursors[at]))  # type: ignore[misc]
    with tempfile.TemporaryDirectory() as folder:
        data = environment_of(home)["OVILLO_DATA_DIR"]
        with OvilloServer(Path(folder), home=home, OVILLO_DATA_DIR=data) as server:
            path = f"/api/sessions/{session}/messages?limit=100"
            # Numbers of messages need not begin at one, nor follow each other.
            oldest, newest = (server.get(path + more)["messages"][0]["seq"] for more in ("", "&order=desc"))
            middle = (oldest + newest) // 2

            def page(more: str) -> tuple[float, int]:
                began = time.perf_counter()
                answer = server.get(path + more)
                took = (time.perf_counter() - began) * 1000
                return took, len(json.dumps(answer, ensure_ascii=False).encode())

            for name, more in (("first", ""), ("middle", f"&afterSeq={middle}"), ("newest", "&order=desc")):
                note(f"REST, 100 messages, {name}", lambda more=more: page(more))  # type: ignore[misc]
            path = path.replace("limit=100", "limit=100000")
            note("REST, 100,000 messages asked for, first", lambda: page(""))
    return found


def report(result: dict[str, Any]) -> str:
    cold = result["first_page_ms"]
    rows = [["first page, fresh server", percentile(cold, 0.5), max(cold), 150, verdict(percentile(cold, 0.5), 150)]]
    for name, values in result["warm_ms"].items():
        rows.append(
            [
                f"{name}, warm",
                percentile(values, 0.5),
                percentile(values, 0.95),
                50,
                verdict(percentile(values, 0.5), 50),
            ]
        )
    warm = table(f"A session of {result['parts']} parts", ("what", "p50 ms", "p95 ms", "bar ms", ""), rows)
    far = table("Pages", ("page", "p50 ms", "most ms", "bytes"), result["pages"])
    return f"{warm}\n\n{far}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", type=int, default=16_735)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.work) as folder:
        home = Path(folder) / "home"
        session = make_database(home / ".local" / "share" / "opencode" / "opencode.db", arguments.parts)
        scanned = run_all(OVILLO.index(home), home, OVILLO)
        if scanned.code:
            sys.exit(scanned.err)
        result = measure(home, session, arguments.rounds)
        result["pages"] = pages(home, session, arguments.rounds)
    keep("long_session", result, arguments.results)
    print(report(result))


if __name__ == "__main__":
    main()
