"""A session of Claude Code with a made-up word wherever one can stand, and looking for that word in what ovillo keeps."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from ovillo.store.sqlite.rows import unpack


def marker() -> str:
    """A word that no file holds by chance."""
    return "q" + "".join(secrets.choice("bcdfghjklmnpqrtvwxz") for _ in range(11))


def write_session(home: Path, session_id: str, word: str, directory: str, *, shared: str = "") -> Path:
    """Title, prompt, answer, tool input and output, folder, branch and paths hold ``word``."""
    folder = home / ".claude" / "projects" / directory.replace("/", "-")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{session_id}.jsonl"
    read = {
        "type": "tool_use",
        "id": f"toolu_{session_id[:8]}",
        "name": "Read",
        "input": {"file_path": f"{directory}/{word}_path.py", "query": f"where is {word}"},
    }
    result = {
        "type": "tool_result",
        "tool_use_id": read["id"],
        "content": f"def {word}_function():\n    raise {word.capitalize()}Error\n" + f"{word}line {shared}\n" * 400,
    }
    said: list[tuple[str, Any]] = [
        ("user", f"Why does {word} break {shared}? See {word}Service and {word.upper()}-42."),
        ("assistant", [{"type": "text", "text": f"Because {word}ing is {shared}."}, read]),
        ("user", [result]),
        ("assistant", [{"type": "text", "text": f"Done with {word}."}]),
    ]
    lines: list[dict[str, Any]] = [{"type": "summary", "summary": f"All about {word}", "leafUuid": f"{session_id}-3"}]
    for number, (role, content) in enumerate(said):
        message: dict[str, Any] = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{session_id}_{number}", "model": "claude-x", "type": "message"}
        lines.append(
            {
                "type": role,
                "uuid": f"{session_id}-{number}",
                "parentUuid": f"{session_id}-{number - 1}" if number else None,
                "sessionId": session_id,
                "timestamp": f"2026-10-20T10:0{number}:00.000Z",
                "cwd": directory,
                "gitBranch": f"feature/{word}",
                "version": "2.0.0",
                "message": message,
            }
        )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def places_of(word: str, data_dir: Path) -> list[str]:
    """Where the word is: raw bytes of every file, and every value of the database, unpacked."""
    wanted = word.lower()
    found = [
        f"bytes of {path.name}"
        for path in sorted(data_dir.rglob("*"))
        if path.is_file() and wanted.encode() in path.read_bytes().lower()
    ]
    return [*found, *(f"table {name}" for name in sorted(set(_tables_with(wanted, data_dir / "ovillo.db"))))]


def _tables_with(wanted: str, database: Path) -> Iterator[str]:
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.pragma("query_only", True)
        tables = [
            row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        ]
        for table in tables:
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                if any(wanted in _text(value) for value in row):
                    yield table
                    break
    finally:
        connection.close()


def _text(value: object) -> str:
    if isinstance(value, bytes):
        try:
            return (unpack(value) or "").lower()
        except Exception:  # noqa: BLE001  not one of the packed texts
            return value.decode("utf-8", "replace").lower()
    return str(value).lower()
