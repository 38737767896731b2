"""What may be proposed of a session. Owns the shape only."""

from __future__ import annotations

from ovillo.model.dataclass import dataclass
from ovillo.model.memories import Origin
from ovillo.model.records import MessageId


@dataclass(frozen=True, slots=True)
class Candidate:
    kind: str
    text: str
    origin: Origin
    message_id: MessageId | None
    at: int | None
    #: Told in words that leave no doubt: it is no passing step, however it begins.
    is_plain: bool = False
    #: Why more than its words speaks for it; nothing where only they do.
    strength: str | None = None
    #: The session wrote it where its client keeps rules.
    is_written: bool = False
    #: Sessions in which a person asked for it, and whether they did so in more than one project.
    asked_in: int = 1
    is_of_projects: bool = False
