"""The JSON export (``version: "1.0"``) and the same facts as JSON lines.

Owns both shapes. The first has the specification's fields (spec-015, section 4.6) and beside them, under
``parts`` and ``origin``, everything ovillo knows, so that nothing is lost; times are milliseconds there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from ovillo.model.records import Message, PartType, Role
from ovillo.model.text import tool_text
from ovillo.sessions.transfer.transcript import Transcript, json_ready

VERSION = "1.0"
#: The specification knows three providers by these names; others keep their own.
_PROVIDERS = {"anthropic": "claude", "openai": "openai", "xai": "xai"}
_FAMILIES = {"claude": "claude", "gpt": "openai", "codex": "openai", "grok": "xai"}


def write_json(transcript: Transcript) -> Iterator[str]:
    """One JSON object, a message a line, in pieces."""
    head = _head(transcript)
    session = head.pop("session")
    yield "{\n" + "".join(f"{_text(key)}: {_text(value)},\n" for key, value in head.items())
    yield '"session": {\n' + "".join(f"{_text(key)}: {_text(value)},\n" for key, value in session.items())
    yield '"messages": ['
    separator = "\n"
    for message in transcript.messages():
        yield separator + _text(_message(message))
        separator = ",\n"
    yield "\n]}}\n"


def write_jsonl(transcript: Transcript) -> Iterator[str]:
    """The first line is the session (``type: session``), every other one a message (``type: message``)."""
    yield _text({"type": "session", **_head(transcript)}) + "\n"
    for message in transcript.messages():
        yield _text({"type": "message", **_message(message)}) + "\n"


def _head(transcript: Transcript) -> dict[str, Any]:
    session, figures = transcript.summary.session, transcript.statistics
    own = figures.own
    metrics = {
        "durationMs": figures.duration_ms,
        "activeMs": figures.active_ms,
        "messageCount": own.messages,
        "partCount": own.parts,
        "promptCount": own.prompts,
        "errorCount": own.errors,
        "tokens": msgspec.to_builtins(own.usage),
        "cost": own.cost,
        "changes": {"additions": figures.additions, "deletions": figures.deletions, "files": figures.files},
        "agents": list(own.agents),
        "models": list(own.models),
        "tools": {name: {"calls": calls, "failures": failed} for name, (calls, failed) in own.tools.items()},
    }
    return {
        "version": VERSION,
        "exportedAt": transcript.exported_at,
        "session": {
            "name": transcript.summary.title,
            "provider": _provider(transcript),
            "modes": dict.fromkeys(session.modes, True),
            "longTermSummary": session.summary or "",
            "workingDirectory": session.directory or "",
            "activeFiles": list(session.active_files),
            "metrics": metrics,
        },
        "origin": msgspec.to_builtins(session),
    }


def _provider(transcript: Transcript) -> str:
    session = transcript.summary.session
    if session.provider:
        return _PROVIDERS.get(session.provider.lower(), session.provider)
    model = (session.model or next(iter(transcript.statistics.own.models), "")).lower()
    return next((provider for word, provider in _FAMILIES.items() if word in model), "unknown")


def _message(message: Message) -> dict[str, Any]:
    calls = [
        {
            "id": part.tool.call_id,
            "name": part.tool.name,
            "input": part.tool.input,
            "output": part.tool.output,
            "status": part.tool.status.value,
        }
        for part in message.parts
        if part.tool
    ]
    whole = msgspec.to_builtins(message)
    parts = whole.pop("parts")
    body: dict[str, Any] = {
        "id": message.id,
        # The specification has no role for tools: what they answered alone came from the system.
        "role": "system" if message.role is Role.TOOL else message.role.value,
        "content": _content(message),
        "timestamp": message.created_at,
    }
    if calls:
        body["toolCalls"] = calls
    return {**body, "metadata": {k: v for k, v in whole.items() if v not in (None, False, {})}, "parts": parts}


def _content(message: Message) -> str:
    """What was said, in order; tools' words where nobody said anything."""
    said = [part.text for part in message.parts if part.type in (PartType.TEXT, PartType.COMPACTION) and part.text]
    if not said and message.role is Role.TOOL:
        said = [tool_text(part.tool) if part.tool else part.text for part in message.parts]
    return "\n\n".join(said)


def _text(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (UnicodeEncodeError, TypeError, OverflowError, msgspec.MsgspecError):
        # Text that UTF-8 cannot hold, integers past 64 bits: damage in the source that JSON can still carry.
        return json.dumps(json_ready(value), ensure_ascii=False, default=str)
