"""A stand-in for a model on loopback, for two protocols: it calls the tools it was told to, one a request, and says that it is done.

Owns what the client showed to the model; it understands nothing of it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4


@dataclass(frozen=True)
class ToolUse:
    name: str
    arguments: dict[str, Any]
    #: Each call of a session needs one of its own.
    call_id: str = field(default_factory=lambda: uuid4().hex)


@dataclass
class ScriptedModel:
    uses: Sequence[ToolUse]
    port: int = 0
    #: Bodies of the requests that offered tools.
    requests: list[dict[str, Any]] = field(default_factory=list)

    @property
    def shown(self) -> str:
        """All that the model was shown last."""
        return json.dumps([self.requests[-1].get("system"), self.requests[-1]["messages"]], ensure_ascii=False)

    def results(self) -> list[str]:
        """What tools answered, as the client handed it to the model, in order."""
        found: list[str] = []
        for message in self.requests[-1]["messages"]:
            if message["role"] == "tool":
                found.append(_plain(message["content"]))
            elif isinstance(message["content"], list):
                found += [_plain(each["content"]) for each in message["content"] if each.get("type") == "tool_result"]
        return found

    def next_use(self, body: dict[str, Any]) -> ToolUse | None:
        if not body.get("tools"):
            return None
        self.requests.append(body)
        done = len(self.results())
        return self.uses[done] if done < len(self.uses) else None


@contextmanager
def scripted_model(*uses: ToolUse) -> Iterator[ScriptedModel]:
    model = ScriptedModel(uses)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None: ...

        def do_GET(self) -> None:
            self.send_error(404)

        def do_HEAD(self) -> None:
            self.send_response(200)
            self.end_headers()

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
            if "count_tokens" in self.path:
                return self.answer("application/json", json.dumps({"input_tokens": 10}))
            lines = _anthropic(model.next_use(body)) if "/messages" in self.path else _openai(model.next_use(body))
            return self.answer("text/event-stream", "".join(lines))

        def answer(self, kind: str, text: str) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _plain(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(each.get("text", "") for each in content)


def _event(name: str, **fields: Any) -> str:
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n"


def _anthropic(use: ToolUse | None) -> Iterator[str]:
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    message = {"id": f"msg_{uuid4().hex}", "type": "message", "role": "assistant", "model": "scripted", "content": []}
    yield _event("message_start", message={**message, "stop_reason": None, "stop_sequence": None, "usage": usage})
    if use is None:
        yield _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        yield _event("content_block_delta", index=0, delta={"type": "text_delta", "text": "done"})
    else:
        block = {"type": "tool_use", "id": f"toolu_{use.call_id}", "name": use.name, "input": {}}
        yield _event("content_block_start", index=0, content_block=block)
        told = {"type": "input_json_delta", "partial_json": json.dumps(use.arguments)}
        yield _event("content_block_delta", index=0, delta=told)
    yield _event("content_block_stop", index=0)
    stop = {"stop_reason": "tool_use" if use else "end_turn", "stop_sequence": None}
    yield _event("message_delta", delta=stop, usage={"output_tokens": 5})
    yield _event("message_stop")


def _openai(use: ToolUse | None) -> Iterator[str]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        whole = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
        return f"data: {json.dumps(whole)}\n\n"

    yield chunk({"role": "assistant", "content": ""})
    if use is None:
        yield chunk({"content": "done"})
    else:
        function = {"name": use.name, "arguments": json.dumps(use.arguments)}
        yield chunk(
            {"tool_calls": [{"index": 0, "id": f"call_{use.call_id}", "type": "function", "function": function}]}
        )
    yield chunk({}, "tool_calls" if use else "stop")
    yield "data: [DONE]\n\n"
