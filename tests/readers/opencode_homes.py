"""Copies of OpenCode's real homes, and a scan of them merged the way ingest does."""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path

from ovillo.model.records import Message, Session, SessionDelta, SkippedRecord
from ovillo.readers.opencode import OpenCodeReader
from ovillo.readers.protocol import Checkpoint, Cursor, Source

READER = OpenCodeReader()
Thread = tuple[Session, list[Message]]


def copied(fixtures: Path, kind: str, tmp_path: Path) -> Path:
    home = tmp_path / "home"
    shutil.copytree(fixtures / f"opencode-{kind}" / "home", home)
    return home


def raw_wal(fixtures: Path, tmp_path: Path) -> Path:
    """The database exactly as OpenCode left it: most of the newest history only in the write-ahead log."""
    data = tmp_path / "home" / ".local" / "share" / "opencode"
    data.mkdir(parents=True)
    with tarfile.open(fixtures / "opencode-sqlite" / "wal-not-checkpointed.tar.gz") as archive:
        if hasattr(tarfile, "data_filter"):
            archive.extractall(tmp_path / "out", filter="data")
        else:  # Python before 3.11.4, which Debian has
            archive.extractall(tmp_path / "out")
    for file in (tmp_path / "out").rglob("opencode.db*"):
        shutil.copy(file, data / file.name)
    return tmp_path / "home"


def sources(home: Path, **env: str) -> list[Source]:
    return READER.discover(env, home)


def read(source: Source, cursor: Cursor | None = None) -> tuple[dict[str, Thread], list[SkippedRecord], Cursor]:
    """Everything of a place, merged the way ingest does, with the cursor to go on from."""
    sessions: dict[str, Thread] = {}
    skipped: list[SkippedRecord] = []
    moved: Cursor = dict(cursor or {})
    for record in READER.scan(source, cursor or {}):
        match record:
            case SessionDelta():
                _, messages = sessions.get(record.session.id, (record.session, []))
                kept = {message.id: message for message in messages} | {
                    message.id: message for message in record.messages
                }
                sessions[record.session.id] = (record.session, sorted(kept.values(), key=lambda message: message.seq))
            case SkippedRecord():
                skipped.append(record)
            case Checkpoint():
                moved.update(record.cursor)
            case _:
                pass
    return sessions, skipped, {key: value for key, value in moved.items() if value is not None}


def data_folder(home: Path) -> Path:
    return home / ".local" / "share" / "opencode"


def write_v0(home: Path, *, system: str = "You are") -> Path:
    """A session as 0.5.29 wrote it; returns its folder."""
    base = data_folder(home) / "project" / "home-dev-shop" / "storage" / "session"
    said = {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 1_750_000_000_000}}
    answer = {
        **said,
        "id": "msg_2",
        "role": "assistant",
        "time": {"created": 1_750_000_001_000},
        "path": {"cwd": "/home/dev/shop", "root": "/home/dev"},
        "system": [system] if system == "You are" else system,
        "tokens": {"input": 5, "output": 7, "reasoning": 2, "cache": {"read": 0, "write": 0}},
    }
    times = {"created": 1_750_000_000_000, "updated": 1_750_000_002_000}
    files = {
        "info/ses_1.json": {"id": "ses_1", "title": "Old", "version": "0.5.29", "time": times},
        "message/ses_1/msg_1.json": said,
        "message/ses_1/msg_2.json": answer,
        "part/ses_1/msg_1/prt_1.json": {"id": "prt_1", "type": "text", "text": "hola"},
    }
    for name, content in files.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(json.dumps(content))
    return base
