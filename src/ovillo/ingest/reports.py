"""What ingest tells people and programs: progress, scan reports, source reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ovillo.model.dataclass import dataclass
from ovillo.model.records import SessionId, SkippedRecord


@dataclass(frozen=True, slots=True)
class ScanProgress:
    """One step of a running scan, for progress bars. The total stands from the first step on; ``reader`` is empty
    when all is read and only what hangs together is joined."""

    reader: str
    path: str
    bytes_read: int
    total_bytes: int
    sessions: int
    messages: int


@dataclass(frozen=True, slots=True)
class SourceReport:
    """One source and what is known of it, for ``ovillo sources``."""

    reader: str
    title: str
    path: str
    layout: str
    #: ``ok``, ``damaged`` (some records skipped), ``unreadable``, ``gone`` (was there, is not now), ``new``,
    #: ``excluded`` (its client is).
    status: str
    sessions: int
    messages: int
    parts: int
    skipped: tuple[SkippedRecord, ...]
    unknown_types: Mapping[str, int]
    redactions: Mapping[str, int]
    last_scan_at: int | None
    error: str | None
    #: Rule -> sessions that were found and not read because of it.
    excluded: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScanReport:
    sources: int
    sessions: int
    messages: int
    parts: int
    skipped: int
    touched: frozenset[SessionId]
    elapsed_ms: int
    #: Another process is scanning; this one did nothing.
    busy: bool = False
    #: Left unread, since it was more than was to be read now.
    left_bytes: int = 0
