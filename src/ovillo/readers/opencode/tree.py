"""The JSON generations: one file a session, message and part.

Owns the two layouts (0.5: below each project; 1.0 to 1.1: one tree) and damage in them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ovillo.model.records import SkippedRecord
from ovillo.readers.loose import dict_of, dicts_of, str_of
from ovillo.readers.opencode.raw import RawMessage, RawSession
from ovillo.readers.session_files import read_document

#: Sessions untouched for longer than this are not looked into as long as their own file and folder stand still.
_QUIET_NS = 2 * 86_400 * 1_000_000_000


@dataclass(frozen=True, slots=True)
class SessionFile:
    """Where one session of a tree stands."""

    id: str
    file: Path
    messages: Path
    #: Folder of a message's parts, below this one by message id.
    parts: Path
    todo: Path | None = None
    diff: Path | None = None
    project: Path | None = None


def list_sessions(root: Path, layout: str) -> list[SessionFile]:
    """Sessions below ``root``, oldest change first; unreadable folders hold none."""
    found = list(_v1(root) if layout == "json" else _v0(root))
    return sorted(found, key=lambda item: (_mtime(item.file), item.id))


def _v1(root: Path) -> Iterator[SessionFile]:
    for project in _entries(root / "session"):
        for file in _entries(project):
            if file.suffix == ".json":
                name = file.stem
                yield SessionFile(
                    name,
                    file,
                    root / "message" / name,
                    root / "part",
                    root / "todo" / file.name,
                    root / "session_diff" / file.name,
                    root / "project" / f"{project.name}.json",
                )


def _v0(root: Path) -> Iterator[SessionFile]:
    for project in _entries(root):
        base = project / "storage" / "session"
        for file in _entries(base / "info"):
            if file.suffix == ".json":
                name = file.stem
                yield SessionFile(name, file, base / "message" / name, base / "part" / name)


def signature(session: SessionFile, known: object, now_ns: int) -> str:
    """Changes whenever a file of the session does. ``known`` is the one before, which spares quiet sessions a look
    at every file."""
    surface = f"{_stat(session.file)}|{_stat(session.messages)}"
    newest = max(_mtime(session.file), _mtime(session.messages))
    if isinstance(known, str) and known.split("#")[0] == surface and now_ns - newest > _QUIET_NS:
        return known
    digest = blake2b(digest_size=12)
    for message in _entries(session.messages):
        digest.update(f"{message.name}{_stat(message)}".encode("utf-8", "replace"))
        for part in _entries(session.parts / message.stem):
            digest.update(f"{part.name}{_stat(part)}".encode("utf-8", "replace"))
    for extra in (session.todo, session.diff):
        digest.update(_stat(extra).encode() if extra else b"")
    return f"{surface}#{digest.hexdigest()}"


def read_session(session: SessionFile, skipped: list[SkippedRecord]) -> RawSession | None:
    """The session with everything readable in it; what is not is added to ``skipped``."""
    data = _record(session.file, skipped)
    if data is None:
        return None
    raw = RawSession(session.id, data)
    if not isinstance(data.get("projectID"), str) and session.project is not None:
        data["projectID"] = session.project.stem
    if session.project is not None and session.project.exists():
        raw.worktree = str_of((_record(session.project, skipped) or {}).get("worktree")) or None
    for file in _entries(session.messages):
        if file.suffix != ".json":
            continue
        message = _record(file, skipped)
        if message is not None:
            raw.messages.append(RawMessage(file.stem, message, _parts(session.parts / file.stem, skipped)))
    raw.todos = dicts_of(_optional(session.todo, skipped))
    raw.diff = [
        {key: item.get(key) for key in ("file", "additions", "deletions", "status") if item.get(key) is not None}
        for item in dicts_of(_optional(session.diff, skipped))
    ]
    return raw


def _parts(folder: Path, skipped: list[SkippedRecord]) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for file in sorted(_entries(folder)):
        if file.suffix == ".json":
            record = _record(file, skipped)
            if record is not None:
                found.append((file.stem, record))
    return found


def _record(file: Path, skipped: list[SkippedRecord]) -> dict[str, Any] | None:
    document = read_document(file)
    if isinstance(document, SkippedRecord):
        skipped.append(document)
        return None
    if not isinstance(document, dict):
        skipped.append(SkippedRecord(str(file), "", "holds no JSON object"))
        return None
    return dict_of(document)


def _optional(file: Path | None, skipped: list[SkippedRecord]) -> Any:
    if file is None or not file.exists():
        return None
    document = read_document(file)
    if isinstance(document, SkippedRecord):
        skipped.append(document)
        return None
    return document


def _entries(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries)
    except OSError:
        return []


def _stat(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return "-"
    return f"{found.st_mtime_ns}:{found.st_size}"


def _mtime(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
