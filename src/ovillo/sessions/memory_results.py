"""What summarising and trimming give back. Plain data: interfaces format it. Owns the shapes only."""

from __future__ import annotations

from ovillo.model.dataclass import dataclass
from ovillo.model.records import Message


@dataclass(frozen=True, slots=True)
class MemoryView:
    """What a model should see of a session now. Nothing recorded is missing from the session itself."""

    short_term: tuple[Message, ...]
    #: Stands for what came before; empty when nothing did.
    long_term_summary: str
    #: ``seq`` of the last message the summary stands for.
    summarised_through: int | None
    #: ``summarizing``, ``trimming``, or ``off`` when summaries are switched off.
    mode: str
    #: How many messages between the summary and ``short_term`` wait to be summarised: so many that whoever looks need
    #: not wait for it.
    pending: int = 0


@dataclass(frozen=True, slots=True)
class SummaryOutcome:
    """The summary in force after a request. With a ``warning`` nothing changed, and the messages stay as they are."""

    summary: str
    #: Tokens (o200k) of what it stands for, of itself, and the difference.
    tokens_before: int
    tokens_after: int
    tokens_saved: int
    from_seq: int | None
    through_seq: int | None
    summarizer: str
    warning: str | None = None
