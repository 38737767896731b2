"""What a reader is: it finds one agent's stores on this machine and turns them into records.

Owns the contract every reader keeps. No store, no SQL on our side, no search. Readers open everything
read-only and never write, lock or move a byte of a client's file; files with credentials are not opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from ovillo.model.dataclass import dataclass
from ovillo.model.records import Inventory, SessionDelta, SessionId, SkippedRecord
from ovillo.readers.client import Client

#: JSON-able state of a source, kept between scans by ingest; ``{}`` the first time. Readers own its shape.
Cursor = dict[str, Any]
#: What its keys begin with that are stamps of whole files: an equal stamp says that nothing changed since.
WHOLE_FILE = "#"


@dataclass(frozen=True, slots=True)
class Source:
    """One store of one client on this machine, e.g. one OpenCode data folder."""

    reader: str
    #: The file or folder; also the source's identity.
    path: Path
    #: Which generation or layout this is, e.g. ``sqlite``, ``json``, ``json-v0``.
    layout: str = ""
    #: Folders or files whose change means there is something to scan (for watching).
    watch: tuple[Path, ...] = ()
    #: Higher is read later and wins when two sources hold one session (newer generations win).
    precedence: int = 0
    metadata: Mapping[str, Any] = field(default_factory=dict)
    #: ``(i, n)``: read only the i-th of n shares of the source's files (readers that are ``shardable``).
    shard: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Everything yielded before this is complete up to ``cursor``; ingest stores both in one transaction.

    Yielded after each file (or batch of rows), so that a killed scan continues instead of starting over.
    ``cursor`` holds only the keys that changed since the last checkpoint: ingest merges it into the
    source's stored cursor key by key (one level deep); a value of ``None`` removes the key.
    """

    cursor: Cursor
    #: Bytes of source data consumed since the last checkpoint, for progress bars.
    bytes_read: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """Yielded first, when the reader can tell cheaply how much there is to do."""

    total_bytes: int


#: What ``scan`` yields.
Record = SessionDelta | SkippedRecord | Checkpoint | Progress | Inventory


@runtime_checkable
class Reader(Protocol):
    """Reads one agent's history."""

    #: Registry name and ``Session.source``: ``opencode``, ``claude_code``, ``codex``, ``gemini_cli`` ...
    name: str
    #: For people: ``OpenCode``, ``Claude Code``.
    title: str

    #: Which readings of one history this reader gives. A higher one reads all sources again, once, so that what it
    #: understands better reaches histories that were read before. Readers without it (other packages') have 1.
    version: int

    #: Whether the client only ever appends, so that a history read from its beginning is all of it: then what an
    #: earlier version made of it and this one does not is dropped. Else it is kept: the client may have removed it.
    appends_only: bool

    #: Whether a large source may be read by several processes at once: ``Source.shard`` then says which files are whose.
    shardable: bool

    #: The program it reads, as others meet it. Readers without it (other packages') have ``Client()``.
    client: Client

    def discover(self, env: Mapping[str, str], home: Path) -> list[Source]:
        """Places that exist now. ``env`` is the environment (XDG_DATA_HOME, CODEX_HOME ...), ``home`` the user's folder."""
        ...

    def scan(self, source: Source, cursor: Cursor, only: SessionId | None = None) -> Iterator[Record]:
        """What is new since ``cursor``, oldest sessions first: newer text then gets higher document numbers,
        which is what "newest first" means to the search index.

        ``only`` limits the scan to one session (to catch it up before an answer); unknown sessions yield nothing.
        Never raises for bad data: damage is yielded as ``SkippedRecord``. Memory stays bounded: long sessions
        come as several deltas.
        """
        ...


@runtime_checkable
class Stamps(Protocol):
    """A reader that can tell by a look that a scan would find nothing new."""

    def stamp(self, source: Source) -> str:
        """Another one as soon as anything is written, made or removed that ``scan`` reads, found much faster than by a scan;
        ``""`` when that cannot be told now. Never raises."""
        ...


@runtime_checkable
class FindsCall(Protocol):
    """A reader whose client tells the id of a tool call (``Client.call_in_meta``)."""

    def session_of_call(
        self, source: Source, call_id: str, *, running: bool
    ) -> tuple[SessionId, SessionId | None] | None:
        """The session in which the call stands, and the sub-agent that made it; ``None`` when none has it (yet).

        With ``running`` only a call that waits for its result counts. Never raises for what the files hold."""
        ...


@runtime_checkable
class FindsRunningCall(Protocol):
    """A reader whose client tells nothing, but has written the call that reached us down by then."""

    def session_running(
        self, source: Source, tool: str, arguments: Mapping[str, Any], folder: str | None
    ) -> SessionId | None:
        """The one session in which ``tool`` runs with ``arguments``; ``folder`` decides between several."""
        ...
