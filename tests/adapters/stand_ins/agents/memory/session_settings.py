from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class SessionSettings:
    limit: int | None = None


def coerce_session_settings(settings: SessionSettings | dict[str, Any]) -> SessionSettings:
    return SessionSettings(**settings) if isinstance(settings, dict) else settings


def resolve_session_limit(limit: int | None, settings: SessionSettings | None) -> int | None:
    return limit if limit is not None else settings.limit if settings else None
