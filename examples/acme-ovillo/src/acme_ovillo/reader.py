"""Reads the chats of Acme Chat: ``~/.acme/chats/*.jsonl``, a file a session, a line a message.

A line is ``{"from": "user" | "acme", "text": ..., "at": milliseconds}``. ``ACME_HOME`` replaces ``~/.acme``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    SkippedRecord,
)
from ovillo.readers.client import Client
from ovillo.readers.jsonl import JsonLines, decode_any
from ovillo.readers.protocol import Cursor, Record, Source
from ovillo.readers.session_files import Group, Identity, Listing, deltas, scan_session_files

NAME = "acme_chat"


class AcmeChatReader:
    name = NAME
    title = "Acme Chat"
    #: One more with each change of what it makes of the same bytes.
    version = 1
    appends_only = True
    shardable = False
    client = Client(
        variables=("ACME_HOME",),
        name_over_mcp="acme-chat",
    )

    def discover(self, env: Mapping[str, str], home: Path) -> list[Source]:
        chats = (Path(env["ACME_HOME"]) if env.get("ACME_HOME") else home / ".acme") / "chats"
        return [Source(NAME, chats, watch=(chats,))] if chats.is_dir() else []

    def scan(self, source: Source, cursor: Cursor, only: SessionId | None = None) -> Iterator[Record]:
        listing = Listing(source.path)
        yield from scan_session_files(listing.files(source.path, ".jsonl"), listing, cursor, only, _identify, _read)


def _identify(path: Path) -> Identity:
    return Identity((path.stem,))


def _read(group: Group) -> Iterator[SessionDelta | SkippedRecord]:
    session_id = SessionId(group.sessions[0])
    messages: list[Message] = []
    for path in group.files:
        for line in JsonLines(path, 0, decode_any):
            if isinstance(line, SkippedRecord):
                yield line
            elif isinstance(line[2], dict):
                messages.append(_message(session_id, len(messages), line[2]))
            else:
                yield SkippedRecord(str(path), str(line[0]), "not a message")
    times = [message.created_at for message in messages if message.created_at is not None]
    session = Session(
        session_id,
        NAME,
        title=messages[0].parts[0].text[:80] if messages else None,
        created_at=min(times, default=None),
        updated_at=max(times, default=None),
    )
    yield from deltas(session, messages)


def _message(session_id: SessionId, number: int, value: dict[str, object]) -> Message:
    is_person = value.get("from") == "user"
    message_id = MessageId(f"{session_id}:{number}")
    at = value.get("at")
    return Message(
        session_id,
        message_id,
        number,
        Role.USER if is_person else Role.ASSISTANT,
        author=Author.HUMAN if is_person else Author.MODEL,
        created_at=at if isinstance(at, int) else None,
        parts=(Part(PartId(f"{message_id}:0"), message_id, 0, PartType.TEXT, str(value.get("text", ""))),),
    )
