"""Numbers, times, sizes and money as people of a language write them.

Owns the short forms of the pages; whoever wants it exact finds the ISO time in the ``datetime`` of the element.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from markupsafe import Markup, escape

from ovillo.interfaces.web.catalogues import number
from ovillo.model.clock import to_iso

_STEPS = ((60_000, "minutes"), (3_600_000, "hours"), (86_400_000, "days"))
_SIZES = ("B", "kB", "MB", "GB")


def kit(language: str, t: Callable[..., str]) -> dict[str, Callable[..., Any]]:
    """The functions that templates call."""

    def count(value: float | None, digits: int = 0) -> str:
        return "–" if value is None else number(language, value, digits)

    def short(value: float | None) -> str:
        """``12.3 M`` for what is only compared."""
        if value is None:
            return "–"
        for unit, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
            if abs(value) >= unit:
                return f"{number(language, value / unit, 1 if value < unit * 100 else 0)} {sign}"
        return number(language, value)

    def size(value: float | None) -> str:
        if value is None:
            return "–"
        at = 0
        while value >= 1_000 and at < len(_SIZES) - 1:
            value, at = value / 1_000, at + 1
        return f"{number(language, value, 1 if at and value < 100 else 0)} {_SIZES[at]}"

    def money(value: float | None) -> str:
        return "–" if value is None else f"$ {number(language, value, 2)}"

    def lasted(milliseconds: float | None) -> str:
        if milliseconds is None:
            return "–"
        if milliseconds < 1_000:
            return f"{number(language, milliseconds)} ms"
        seconds = milliseconds / 1_000
        if seconds < 60:
            return f"{number(language, seconds, 1 if seconds < 10 else 0)} s"
        minutes = int(seconds // 60)
        if minutes < 60:
            return f"{minutes} min {int(seconds % 60)} s" if minutes < 10 else f"{minutes} min"
        return f"{number(language, minutes // 60)} h {minutes % 60:02d} min"

    def when(at: int | None, only_day: bool = False) -> str | Markup:
        """A ``time`` element in this machine's zone."""
        if at is None:
            return "–"
        local = datetime.fromtimestamp(at / 1_000).astimezone()
        text = local.strftime("%Y-%m-%d" if only_day else "%Y-%m-%d %H:%M")
        return Markup('<time datetime="{}" title="{}">{}</time>').format(
            to_iso(at), local.isoformat(timespec="seconds"), text
        )

    def ago(at: int | None) -> str | Markup:
        if at is None:
            return "–"
        return Markup('<time datetime="{}" title="{}">{}</time>').format(
            to_iso(at), datetime.fromtimestamp(at / 1_000).astimezone().isoformat(timespec="seconds"), escape(_ago(at))
        )

    def _ago(at: int) -> str:
        past = int(time.time() * 1_000) - at
        if past < 60_000:
            return t("shell.just_now")
        for (step, name), (following, _) in zip(_STEPS, (*_STEPS[1:], (_STEPS[-1][0] * 30, "")), strict=True):
            if past < following:
                return t(f"shell.{name}_ago", n=past // step)
        return datetime.fromtimestamp(at / 1_000).astimezone().strftime("%Y-%m-%d")

    return {
        "count": count,
        "short": short,
        "size": size,
        "money": money,
        "lasted": lasted,
        "when": when,
        "ago": ago,
    }
