"""A data folder of the Continuity Protocol's server, in the format that its reference tells (docs/reference/migrations.md)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

SESSION = "0b7f6a52-6f0e-4a4e-9d2c-2a1f5f0f5a11"
TASKS = ("5d0c9d0e-0000-4000-8000-000000000001", "5d0c9d0e-0000-4000-8000-000000000002")
ONLY_IN_SPRINT = "5d0c9d0e-0000-4000-8000-000000000003"


def put(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2))


def make(root: Path) -> Path:
    """A checkout with its ``data`` folder."""
    data = root / "data"
    session = data / "sessions" / SESSION
    put(
        session / "metadata.json",
        {
            "session_id": SESSION,
            "name": "Ledger rewrite",
            "created_at": "2025-05-14T09:12:01.000123",
            "updated_at": "2025-05-14T18:40:55.500000",
            "metadata": {"branch": "ledger"},
            "versions": [
                {"version": 1, "saved_at": "2025-05-14T10:00:00.250000", "compression_level": 0, "size": 20},
                {"version": 3, "saved_at": "2025-05-14T11:00:00.750000", "compression_level": 2, "size": 40},
            ],
        },
    )
    put(session / "version_1.json", {"notes": ["begin"], "open": 3})
    put(
        session / "version_3.json",
        {
            "_compression_info": {"level": 2, "algorithm": "placeholder", "original_size": 40},
            "data": {"notes": ["begin", "más"], "open": 1},
        },
    )
    entry(data / "contexts", "default", "release/plan", {"steps": [1, 2]}, hashed=True)
    entry(data / "contexts", "default", "limit", 40, hashed=True)
    entry(data / "contexts", "old", "token", {"a": 1}, hashed=True, expires_at="2025-05-14T09:00:00.000000")
    entry(root / ".continuity" / "contexts", "default", "limit", {"n": 7})
    put(
        root / ".continuity" / "config.json",
        {"project_id": "p", "name": "shop", "registered_at": "2025-05-14T09:00:00"},
    )
    put(data / "contexts" / "_context_history" / "x.json", {"key": "_prev_1", "value": {}, "stored_at": None})
    put(data / "llmops" / "timesheets" / f"{TASKS[0]}.json", task(TASKS[0], "2025-05-14T12:30:00.000000"))
    put(data / "llmops" / "timesheets" / f"{TASKS[1]}.json", task(TASKS[1], None))
    put(
        data / "llmops" / "sprints" / "sprint-1.json",
        {
            "sprint_id": "sprint-1",
            "project_name": "shop",
            "start_date": "2025-05-12T00:00:00.000000",
            "end_date": None,
            "status": "active",
            "tasks": [task(TASKS[0], None), {**task(ONLY_IN_SPRINT, None), "status": "incomplete"}],
        },
    )
    return root


def entry(
    folder: Path, namespace: str, key: str, value: Any, *, hashed: bool = False, expires_at: str | None = None
) -> None:
    name = hashlib.md5(key.encode(), usedforsecurity=False).hexdigest() if hashed else key
    held = {"key": key, "value": value, "stored_at": "2025-05-14T09:30:00.000001", "expires_at": expires_at}
    put(folder / namespace / f"{name}.json", {**held, "namespace": namespace})


def task(task_id: str, end: str | None) -> dict[str, Any]:
    return {
        "task_id": task_id,
        "llm_name": "claude",
        "sprint_id": "sprint-1",
        "description": "Split postings",
        "context": None,
        "start_time": "2025-05-14T12:00:00.000000",
        "end_time": end,
        "duration_seconds": 1800.0 if end else 0,
        "files_modified": ["ledger.py"] if end else [],
        "summary": "done" if end else None,
    }
