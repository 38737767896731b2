"""What can be shown of a session, part by part, without what it holds.

Owns which parts are shown and their numbers; reads nothing itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from ovillo.model.records import Author, PartType, Role, ToolStatus
from ovillo.model.sessions import PartOutline


class Outline:
    """Rows are numbered from 0; a message that failed without a word has one of its own."""

    def __init__(self, rows: Sequence[PartOutline], places: Sequence[int], messages: int) -> None:
        self.rows = rows
        #: For each row, how many messages stand before its own.
        self.places = places
        #: In all.
        self.messages = messages

    @classmethod
    def of(cls, stretches: Iterable[Sequence[PartOutline]]) -> Outline:
        rows: list[PartOutline] = []
        places: list[int] = []
        place, last = -1, None
        shown_of = -1
        for stretch in stretches:
            for number, each in enumerate(stretch):
                if each.message_id != last or number == 0:
                    place, last = place + 1, each.message_id
                if each.is_empty and not (each.failed and shown_of != place and each.part_id is None):
                    continue
                rows.append(each)
                places.append(place)
                shown_of = place
        return cls(rows, places, place + 1)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def prompts(self) -> tuple[int, ...]:
        """Rows that a person said, one for each message."""
        found: list[int] = []
        for row, each in enumerate(self.rows):
            if is_prompt(each) and not (found and self.places[found[-1]] == self.places[row]):
                found.append(row)
        return tuple(found)

    @cached_property
    def compactions(self) -> tuple[int, ...]:
        return tuple(row for row, each in enumerate(self.rows) if each.type is PartType.COMPACTION)

    @cached_property
    def errors(self) -> tuple[int, ...]:
        """Failed tool calls, and the first row of each answer that failed."""
        return tuple(
            row
            for row, each in enumerate(self.rows)
            if each.tool_status is ToolStatus.ERROR or (each.failed and self.is_first(row))
        )

    def is_first(self, row: int) -> bool:
        """Whether a message begins with it."""
        return row == 0 or self.places[row - 1] != self.places[row]

    def row_of(self, ref: str) -> int | None:
        """Of the part or message with this id."""
        return self._by_id.get(ref)

    @cached_property
    def _by_id(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for row, each in enumerate(self.rows):
            found.setdefault(each.message_id, row)
            if each.part_id is not None:
                found.setdefault(each.part_id, row)
        return found


def is_prompt(row: PartOutline) -> bool:
    return (
        row.role is Role.USER
        and row.author is Author.HUMAN
        and row.type in (PartType.TEXT, PartType.FILE)
        and not row.synthetic
        and not row.is_summary
    )
