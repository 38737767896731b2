"""Records of what ovillo keeps itself beside sessions and messages: summaries and what appending gives back.

Owns the shapes and their meaning. Times are integer milliseconds since 1970 UTC.
"""

from __future__ import annotations

from collections.abc import Iterable

from ovillo.model.dataclass import dataclass
from ovillo.model.records import SessionId

#: ``Session.source`` of sessions recorded here; every other source is a mirror of a client's store and read-only.
NATIVE = "ovillo"
#: The provider of a session that names none, and the modes that are always shown (SPEC-015); others stand beside them.
DEFAULT_PROVIDER = "claude"
_MODES = ("orchestrate", "plan", "bypassPermissions")


def shown_modes(modes: Iterable[str]) -> dict[str, bool]:
    """Each mode and whether it is on, in the specification's form."""
    on = tuple(modes)
    return {name: name in on for name in (*_MODES, *on)}


@dataclass(frozen=True, slots=True)
class Appended:
    """Where an appended message stands. ``replayed``: it was there already under the same idempotency key."""

    message_id: str
    seq: int
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Summary:
    """What stands for the messages ``from_seq`` to ``through_seq`` (both included); they stay as they were recorded.

    A rolling summary takes the one before it in: the newest one covers everything up to its ``through_seq``."""

    id: str
    session_id: SessionId
    from_seq: int
    through_seq: int
    text: str
    #: Tokens (o200k) of the messages it stands for and of itself.
    tokens_before: int
    tokens_after: int
    #: The summarizer that made it, e.g. ``extractive``.
    summarizer: str
    created_at: int
