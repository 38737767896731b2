"""Who read or removed which session: the entries of the audit. Owns the shapes only. Times are integer milliseconds."""

from __future__ import annotations

from ovillo.model.dataclass import dataclass

#: Stands for a session where somebody follows all of a namespace.
EVERY_SESSION = "*"


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One deed. Never what was said, asked or found."""

    at: int
    #: Name of the principal, and the public id of its key where it came with one.
    principal: str
    key_id: str | None
    #: The channel it came through: ``rest``, ``mcp``, ``websocket``, ``stdio``, ``cli``, ``retention``.
    channel: str
    #: The operation or tool, as the references name it.
    action: str
    session_id: str
    #: How often within one flush (seconds apart), so that a client that polls does not fill the disk.
    times: int = 1


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """An entry as it is kept. ``seq`` rises by one; ``chain`` is an HMAC over the entry and the chain before it."""

    seq: int
    namespace: str
    entry: AuditEntry
    chain: bytes


@dataclass(frozen=True, slots=True)
class AuditCheck:
    """What reading the whole chain found. ``broken_at`` is the first ``seq`` that is not what was written."""

    entries: int
    #: Chain of the newest entry in hex; noted elsewhere, it shows later that nothing was cut off the end.
    head: str | None
    broken_at: int | None = None
    reason: str | None = None
