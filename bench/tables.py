"""Printing and keeping results: aligned tables for people, one JSON file a benchmark for programs."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A titled table; numbers to the right, words to the left."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(text) for text in column) for column in zip(columns, *cells, strict=True)]
    numeric = [all(_is_number(row[i]) for row in rows) for i in range(len(columns))]

    def line(row: Sequence[str]) -> str:
        return "  ".join(t.rjust(w) if n else t.ljust(w) for t, w, n in zip(row, widths, numeric, strict=True)).rstrip()

    return "\n".join([title, line(columns), "  ".join("-" * width for width in widths), *map(line, cells)])


def verdict(value: float | None, bar: float, *, at_least: bool = False) -> str:
    """``ok`` or ``MISSED`` against the bar of DESIGN section 17; empty when not measured."""
    if value is None:
        return ""
    return "ok" if (value >= bar if at_least else value <= bar) else "MISSED"


def keep(name: str, result: dict[str, Any], folder: Path) -> None:
    """Writes ``result`` with the machine it was measured on to ``folder/name.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    machine = {"python": platform.python_version(), "cpus": os.cpu_count(), "load": os.getloadavg()[0]}
    text = json.dumps({"machine": machine, **result}, indent=1, ensure_ascii=False)
    (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def percentile(values: Sequence[float], share: float) -> float:
    """Nearest-rank percentile; 0 for no values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 1 else f"{value:.1f}"
    return str(value)
