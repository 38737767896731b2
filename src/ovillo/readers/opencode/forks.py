"""Recognising a fork: OpenCode copies every message under new ids with the original times and no pointer back.

Owns the evidence (title, equal times, roles and words); reads nothing itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ovillo.model.records import SessionId
from ovillo.readers.loose import dict_of, str_of
from ovillo.readers.opencode.raw import RawMessage, RawSession

_TITLE = re.compile(r"^(?P<base>.*?)(?: \(fork #\d+\))+$", re.DOTALL)


def base_title(title: str) -> str | None:
    """The title a fork was made from; ``None`` when this is no fork's title."""
    found = _TITLE.match(title)
    return found["base"] if found else None


def find_origin(
    fork: RawSession, others: Iterable[tuple[str, str, str]], read: Callable[[str], RawSession | None]
) -> tuple[SessionId, frozenset[str]] | None:
    """``(origin, ids of the copied messages)``. ``others`` are ``(id, title, project id)``; ``read`` fetches one."""
    base = base_title(str_of(fork.data.get("title")))
    if base is None or fork.data.get("parentID"):
        return None
    best: tuple[int, str] = (0, "")
    for session_id, title, project in others:
        related = session_id != fork.id and project == str_of(fork.data.get("projectID"))
        if related and (base_title(title) or title) == base:
            origin = read(session_id)
            if origin is not None and _made(origin) <= _made(fork):
                best = max(best, (_shared(origin, fork), session_id), key=lambda item: item[0])
    if not best[0]:
        return None
    return SessionId(best[1]), frozenset(item.id for item in fork.messages[: best[0]])


def _shared(origin: RawSession, fork: RawSession) -> int:
    origin.sort()
    fork.sort()
    count = 0
    for a, b in zip(origin.messages, fork.messages, strict=False):
        if _face(a) != _face(b):
            break
        count += 1
    return count


def _face(message: RawMessage) -> tuple[object, ...]:
    first = next((str_of(part.get("text")) for _, part in message.parts if part.get("type") == "text"), "")
    return message.data.get("role"), message.created, first


def _made(session: RawSession) -> int:
    created = dict_of(session.data.get("time")).get("created")
    return created if isinstance(created, int) else 0
