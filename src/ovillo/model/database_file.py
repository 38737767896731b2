"""Results of copying, surveying and repairing a database that is a file of the user's.

Owns the types only.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from pathlib import Path

from ovillo.model.dataclass import dataclass

#: Prefix of the id of a session that a repair made for messages without a session.
RECOVERED = "recovered-"


@dataclass(frozen=True, slots=True)
class Copied:
    """``counts`` were read from the copy after it was written and checked."""

    path: Path
    bytes: int
    is_encrypted: bool
    counts: dict[str, int]
    #: Where the replaced database was moved; only for a restore.
    kept_at: Path | None = None
    #: How much was forgotten since the copy was made and is back now; only for a restore.
    forgotten_since: int = 0


@dataclass(frozen=True, slots=True)
class KeptCopy:
    """A copy in the data folder."""

    path: Path
    bytes: int
    made_at: int
    is_encrypted: bool


@dataclass(frozen=True, slots=True)
class FileVersion:
    """Which ovillo made a database's schema."""

    schema: int
    #: The schema of the current program.
    known: int
    #: The version of that ovillo, if it was recorded.
    ovillo: str | None = None

    @property
    def is_older(self) -> bool:
        # 0: empty so far, or all is gone.
        return 0 < self.schema < self.known

    @property
    def is_newer(self) -> bool:
        return self.schema > self.known


@dataclass(slots=True)
class Damage:
    """Damage found, as counts."""

    pages: int = 0
    header: bool = False
    schema: bool = False
    #: Unreadable pages, or cells of pages, by table or index.
    broken_pages: Counter[str] = field(default_factory=Counter)
    broken_rows: Counter[str] = field(default_factory=Counter)
    #: Pages whose tree is lost, by the table that their rows fit.
    loose_pages: Counter[str] = field(default_factory=Counter)
    #: Pages in use that cannot be assigned.
    unknown_pages: int = 0
    log_frames: int = 0

    @property
    def found(self) -> bool:
        return bool(
            self.header or self.schema or self.broken_pages or self.broken_rows or self.loose_pages or self.log_frames
        )

    @property
    def names(self) -> list[str]:
        return sorted({*self.broken_pages, *self.broken_rows, *self.loose_pages})


@dataclass(frozen=True, slots=True)
class Survey:
    """Report of ``ovillo doctor`` on a damaged file."""

    damage: Damage
    #: Readable rows, by what they are.
    readable: dict[str, int]


@dataclass(slots=True)
class Repaired:
    """Result of a repair. ``kept_at`` is the folder with the damaged file."""

    kept_at: Path
    damage: Damage
    #: Rows rescued, by what they are.
    saved: dict[str, int] = field(default_factory=dict)
    #: Rows that existed and could not be read, by what they were; pages that cannot be assigned are not included.
    lost: dict[str, int] = field(default_factory=dict)
    #: Sessions made for messages, and messages made for texts, that lost their own.
    recovered_sessions: int = 0
    recovered_messages: int = 0
