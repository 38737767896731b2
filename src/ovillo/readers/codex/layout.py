"""Where Codex stores rollouts, and which thread each file holds.

Owns file names. Facts (own runs of 0.63.0 and 0.169.0): ``sessions/YYYY/MM/DD/rollout-<local time>-<thread
id>.jsonl`` under ``CODEX_HOME`` (default ``~/.codex``); archived ones in ``archived_sessions/`` (reported).
Nothing else is opened here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from ovillo.model.dataclass import dataclass
from ovillo.model.records import SessionId, SessionStatus, SkippedRecord
from ovillo.readers.containment import ContainedPaths
from ovillo.readers.jsonl import FileState, stat_regular
from ovillo.readers.protocol import Source

NAME = "codex"
ARCHIVE = "archived_sessions"
_FOLDERS = ("sessions", ARCHIVE)
#: Year, month, day, and a few more for other layouts; bounded, so that a loop of links ends.
DEPTH = 6
_THREAD_ID = re.compile(r"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$", re.IGNORECASE)


def discover(env: Mapping[str, str], home: Path) -> list[Source]:
    """``CODEX_HOME``, else ``~/.codex``, where it holds rollouts."""
    named = env.get("CODEX_HOME")
    root = Path(named).expanduser() if named else home / ".codex"
    folders = folders_of(root)
    return [Source(NAME, root, watch=folders)] if folders else []


def folders_of(root: Path) -> tuple[Path, ...]:
    """Folders that contain rollouts at some depth."""
    return tuple(root / name for name in _FOLDERS if (root / name).is_dir())


@dataclass(frozen=True, slots=True)
class RolloutFile:
    """One rollout on disk."""

    path: Path
    #: Relative to the source, with ``/``: the key in the cursor.
    key: str
    state: FileState
    #: The thread in the file name.
    session_id: SessionId
    is_archived: bool


@dataclass(slots=True)
class Listing:
    inside: ContainedPaths
    files: list[RolloutFile] = field(default_factory=list)
    #: Folders that could not be listed; without them, nothing can be declared deleted.
    skipped: list[SkippedRecord] = field(default_factory=list)


def list_rollouts(root: Path) -> Listing:
    """All rollouts below ``root``, least recently written first."""
    listing = Listing(_inside(root))
    for folder in folders_of(root):
        for path in _walk(folder, listing, DEPTH):
            if (found := _file(root, path, listing.inside)) is not None:
                listing.files.append(found)
    listing.files.sort(key=lambda file: (file.state.mtime_ns, file.key))
    return listing


def find_rollout(root: Path, session_id: SessionId) -> RolloutFile | None:
    """The rollout of one thread, found by its file name."""
    if not session_id or Path(session_id).name != session_id or any(c in session_id for c in "*?["):
        return None
    inside = _inside(root)
    for pattern in (f"sessions/*/*/*/rollout-*{session_id}.jsonl", f"{ARCHIVE}/**/rollout-*{session_id}.jsonl"):
        for path in root.glob(pattern):
            found = _file(root, path, inside)
            if found is not None and found.session_id == session_id:
                return found
    return None


def status_of(file: RolloutFile) -> SessionStatus:
    return SessionStatus.ARCHIVED if file.is_archived else SessionStatus.ACTIVE


def _walk(folder: Path, listing: Listing, depth: int) -> Iterator[Path]:
    try:
        with os.scandir(folder) as found:
            entries = list(found)
    except OSError as error:
        listing.skipped.append(SkippedRecord(str(folder), "", f"cannot be looked into: {error.strerror or error}"))
        return
    for entry in entries:
        if entry.is_symlink() and (refused := listing.inside.refused(entry.path)) is not None:
            listing.skipped.append(refused)
        elif entry.name.endswith(".jsonl"):
            yield Path(entry.path)
        elif depth and entry.is_dir():
            yield from _walk(Path(entry.path), listing, depth - 1)


def _inside(root: Path) -> ContainedPaths:
    return ContainedPaths(root, *(root / name for name in _FOLDERS))


def _file(root: Path, path: Path, inside: ContainedPaths) -> RolloutFile | None:
    state = stat_regular(path)
    if state is None or not inside.holds(path):
        return None
    named = _THREAD_ID.search(path.name)
    session_id = named[1] if named else path.stem
    key = str(path)[len(str(root)) + 1 :].replace(os.sep, "/")
    return RolloutFile(path, key, state, SessionId(session_id), key.startswith(ARCHIVE))
