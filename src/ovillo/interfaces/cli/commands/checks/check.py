"""One finding of ``ovillo doctor``.

Owns its shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from ovillo.model.dataclass import dataclass


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    level: Level
    detail: str
    #: What to do; empty when all is well.
    hint: str = ""
    #: The same for programs, where there is more to say.
    facts: Mapping[str, Any] | None = None
