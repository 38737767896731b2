"""What earlier systems left, as records of ours.

Owns the kinds of things a migration carries, what names one of them, and how two are compared. Reads and stores nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ovillo.model.coordination import ContextEntry, Task
from ovillo.model.memories import Memory
from ovillo.model.records import Message, Session, SessionId


@dataclass(frozen=True, slots=True)
class OldSession:
    """A session under its own id, with its own times."""

    session: Session
    messages: tuple[Message, ...] = ()

    kind = "session"

    @property
    def name(self) -> str:
        return self.session.id


@dataclass(frozen=True, slots=True)
class OldVersion:
    """A saved state of a session. ``version`` counts from 1 without gaps, whatever the old numbers were."""

    session_id: SessionId
    version: int
    content: Mapping[str, Any]
    saved_at: int

    kind = "snapshot"

    @property
    def name(self) -> str:
        return f"{self.session_id} version {self.version}"


@dataclass(frozen=True, slots=True)
class OldEntry:
    entry: ContextEntry

    kind = "context entry"

    @property
    def name(self) -> str:
        return f"{self.entry.context}/{self.entry.key}"


@dataclass(frozen=True, slots=True)
class OldTask:
    task: Task

    kind = "task"

    @property
    def name(self) -> str:
        return self.task.id


@dataclass(frozen=True, slots=True)
class OldContainer:
    """A v5 container. The text of its chunks stands in the documents below ``base``."""

    file: Path
    base: Path

    kind = "document container"

    @property
    def name(self) -> str:
        return self.file.name


@dataclass(frozen=True, slots=True)
class OldCode:
    """A folder that was indexed. Its definitions are read anew: an index is as old as the day it was made.

    ``definitions``: (file below the folder, name, first line) as the old index has them, each definition once."""

    folder: Path
    definitions: frozenset[tuple[str, str, int]]

    kind = "code folder"

    @property
    def name(self) -> str:
        return str(self.folder)


@dataclass(frozen=True, slots=True)
class OldMemory:
    """Something that was remembered. Whether it may be believed is told where it is put down, not here."""

    memory: Memory

    kind = "memory"

    @property
    def name(self) -> str:
        return self.memory.key or self.memory.id


Item = OldSession | OldVersion | OldEntry | OldTask | OldContainer | OldCode | OldMemory


@dataclass(frozen=True, slots=True)
class ReadItem:
    #: Below the folder that is migrated.
    file: str
    item: Item


@dataclass(frozen=True, slots=True)
class Unread:
    """What could not be read, and why; ``position`` is empty for a whole file."""

    file: str
    position: str
    reason: str


Read = ReadItem | Unread
