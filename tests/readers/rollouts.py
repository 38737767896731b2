"""Small rollouts of Codex, written line by line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ovillo.readers.codex import CodexReader
from ovillo.readers.protocol import Source
from tests.readers.harvest import Found, Harvest, harvest

READER = CodexReader()
SID = "11111111-2222-7333-8444-555555555555"
OTHER = "99999999-2222-7333-8444-555555555555"
Line = dict[str, Any]


def line(kind: str, **payload: Any) -> Line:
    return {"timestamp": "2026-11-21T04:00:00.000Z", "type": kind, "payload": payload}


def meta(thread: str = SID, **more: Any) -> Line:
    return line(
        "session_meta", id=thread, timestamp="2026-11-21T04:00:00.000Z", cwd="/work", cli_version="0.63.0", **more
    )


def prompt(text: str) -> Line:
    return line("event_msg", type="user_message", message=text)


def said(text: str, **more: Any) -> Line:
    content = [{"type": "output_text", "text": text}]
    return line("response_item", type="message", role="assistant", content=content, **more)


def put_in(text: str, role: str = "user") -> Line:
    return line("response_item", type="message", role=role, content=[{"type": "input_text", "text": text}])


def call(call_id: str = "c1", name: str = "shell_command", arguments: str = '{"command":"ls"}') -> Line:
    return line("response_item", type="function_call", name=name, arguments=arguments, call_id=call_id)


def output(value: Any, call_id: str = "c1") -> Line:
    return line("response_item", type="function_call_output", call_id=call_id, output=value)


def tokens(total: int, last: int) -> Line:
    def of(n: int) -> dict[str, int]:
        return {"input_tokens": n, "output_tokens": n}

    return line("event_msg", type="token_count", info={"total_token_usage": of(total), "last_token_usage": of(last)})


def used(response: str, n: int) -> Line:
    return line("token_usage_record", response_id=response, usage={"input_tokens": n, "output_tokens": n})


def item(**item: Any) -> Line:
    return line("event_msg", type="item_completed", item=item)


def home(tmp_path: Path, *lines: Line | bytes, thread: str = SID, folder: str = "sessions/2026/11/21") -> Source:
    path = tmp_path / ".codex" / folder / f"rollout-2026-11-21T04-00-00-{thread}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(x if isinstance(x, bytes) else json.dumps(x).encode() + b"\n" for x in lines))
    return READER.discover({}, tmp_path)[0]


def read(tmp_path: Path, *lines: Line | bytes) -> tuple[Found, Harvest]:
    found = harvest(READER, home(tmp_path, *lines))
    return found.sessions[SID], found
