"""Tokens of model answers: exact records in newer versions, cumulative counts in older ones.

Owns both conventions. Facts (own runs): ``token_usage_record.usage`` of 0.169.0 is one answer's. The
``token_count`` event of 0.63.0 is a running total that is repeated, and starts again at nothing after a
resume; in a fork of 0.169.0 it starts from the parent's total. ``input_tokens`` includes cached ones,
``output_tokens`` includes reasoning.
"""

from __future__ import annotations

from typing import Any

from ovillo.model.records import Usage
from ovillo.readers.loose import count_of, dict_of


def usage_of(raw: dict[str, Any]) -> Usage:
    """Normalised: what overlaps in the client's figures is taken apart."""
    cached = count_of(raw.get("cached_input_tokens"))
    written = count_of(raw.get("cache_write_input_tokens"))
    reasoning = count_of(raw.get("reasoning_output_tokens"))
    return Usage(
        input=max(0, count_of(raw.get("input_tokens")) - cached - written),
        output=max(0, count_of(raw.get("output_tokens")) - reasoning),
        reasoning=reasoning,
        cache_read=cached,
        cache_write=written,
    )


class RunningTotal:
    """Turns the running totals of ``token_count`` into the usage of one answer each."""

    def __init__(self, last: dict[str, Any] | None, inherits: bool) -> None:
        self.last = last
        #: The first total belongs to the thread this one was forked from.
        self.inherits = inherits

    def answer(self, info: object) -> Usage | None:
        """The usage this event adds; ``None`` when it repeats what was known."""
        total = dict_of(dict_of(info).get("total_token_usage"))
        if not total or total == self.last:
            return None
        before, self.last = self.last, total
        if before is None and self.inherits:
            return None
        usage = usage_of(dict_of(dict_of(info).get("last_token_usage")))
        return usage if usage != Usage() else None
