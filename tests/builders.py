"""Small records for tests: a session said in a few words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ovillo.model.records import (
    Author,
    Message,
    MessageId,
    Part,
    PartId,
    PartType,
    Role,
    Session,
    SessionDelta,
    SessionId,
    ToolCall,
    ToolStatus,
)

NOON = 1_795_262_400_000


class WordAnalyzer:
    """Lower-case words and nothing else: what the store does must not depend on languages."""

    version = "words-1"

    def __init__(self) -> None:
        self._new: list[tuple[str, str]] = []

    def index_terms(self, text: str) -> tuple[str, int]:
        words = text.lower().split()
        self._new += [(word, word) for word in words]
        return " ".join(words), len(words)

    def take_new_surfaces(self) -> list[tuple[str, str]]:
        taken, self._new = self._new, []
        return taken

    def note_removals(self, count: int) -> None: ...

    def return_surfaces(self, surfaces: Sequence[tuple[str, str]]) -> None:
        self._new += surfaces


def session(session_id: str = "ses_a", **fields: object) -> Session:
    values: dict[str, object] = {"source": "opencode", "created_at": NOON, "updated_at": NOON + 60_000, **fields}
    return Session(id=SessionId(session_id), **values)  # type: ignore[arg-type]


def text_part(message_id: str, text: str, seq: int = 0, **fields: object) -> Part:
    return Part(PartId(f"{message_id}-p{seq}"), MessageId(message_id), seq, PartType.TEXT, text, **fields)  # type: ignore[arg-type]


def tool_part(message_id: str, seq: int, tool: ToolCall) -> Part:
    return Part(PartId(f"{message_id}-p{seq}"), MessageId(message_id), seq, PartType.TOOL_CALL, tool=tool)


def call(call_id: str = "call-1", output: str | None = None, status: ToolStatus = ToolStatus.PENDING) -> ToolCall:
    return ToolCall("bash", call_id, {"command": "pytest"}, output, status=status)


def message(
    message_id: str, seq: int, *texts: str, role: Role = Role.USER, of: str = "ses_a", **fields: object
) -> Message:
    author = Author.HUMAN if role is Role.USER else Author.MODEL
    parts = tuple(text_part(message_id, text, index) for index, text in enumerate(texts))
    values: dict[str, object] = {"parts": parts, "created_at": NOON + seq * 1000, "author": author, **fields}
    return Message(session_id=SessionId(of), id=MessageId(message_id), seq=seq, role=role, **values)  # type: ignore[arg-type]


def delta(*messages: Message, about: Session | None = None, **fields: object) -> SessionDelta:
    return SessionDelta(about or session(messages[0].session_id if messages else "ses_a"), messages, **fields)  # type: ignore[arg-type]


def folder_state(folder: Path) -> dict[str, bytes]:
    """Every file below ``folder`` with its bytes, to show that a source was not touched."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
