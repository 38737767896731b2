"""What answers are told apart by.

Owns the key of each: local days, weeks that begin on Monday, months, blocks of five hours, sessions and what is known of them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from ovillo.model.clock import local, to_iso
from ovillo.sessions.usage.blocks import Blocks
from ovillo.sessions.usage.report import By

if TYPE_CHECKING:
    from ovillo.model.sessions import SessionRow
    from ovillo.model.usage import PaidAnswer

#: Zones differ from UTC by whole quarters of an hour: what is true of one moment of it is true of all.
_QUARTER_MS = 900_000

#: The key of an answer.
Keyer = Callable[["PaidAnswer"], str]


class Grouping:
    """``about`` gives a session's row, ``project`` what its project is called."""

    def __init__(self, about: Callable[[str], SessionRow | None], project: Callable[[SessionRow], str]) -> None:
        self._about = about
        self._project = project
        self._blocks = Blocks()
        self._days: dict[tuple[By, int], str] = {}
        self._of_session: dict[tuple[By, str], str] = {}

    def keyer(self, by: By) -> Keyer:
        match by:
            case "day" | "week" | "month":
                return lambda answer: self._date(by, answer.at)
            case "block":
                return lambda answer: (
                    "" if answer.at is None else to_iso(self._blocks.beginning(answer.source, answer.at)) or ""
                )
            case "session":
                return lambda answer: answer.session_id
            case "model":
                return lambda answer: answer.model or ""
            case "client":
                return lambda answer: answer.source
            case "project" | "branch":
                return lambda answer: self._told(by, answer.session_id)

    def _date(self, by: By, at: int | None) -> str:
        if at is None:
            return ""
        quarter = at // _QUARTER_MS
        known = self._days.get((by, quarter))
        if known is None:
            known = self._days[by, quarter] = _date(by, at)
        return known

    def _told(self, by: By, session_id: str) -> str:
        known = self._of_session.get((by, session_id))
        if known is None:
            row = self._about(session_id)
            told = "" if row is None else self._project(row) if by == "project" else row.session.git_branch
            known = told or ""
            self._of_session[by, session_id] = known
        return known


def _date(by: By, at: int) -> str:
    try:
        day = local(at).date()
    except (OverflowError, OSError, ValueError):
        return ""
    if by == "week":
        day -= timedelta(days=day.weekday())
    return day.isoformat()[:7] if by == "month" else day.isoformat()
