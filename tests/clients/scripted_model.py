"""A stand-in for a model on loopback, for five protocols: it calls the tools it was told to, one a request, and says that it is done.

Owns what the client showed to the model; it understands nothing of it. How many tokens a request is said to have taken makes a client
compact.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

_FEW = 10
#: Where the five protocols keep what was said.
_CONVERSATION = ("system", "instructions", "systemInstruction", "messages", "input", "contents")


@dataclass(frozen=True)
class ToolUse:
    name: str
    arguments: dict[str, Any]
    #: Each call of a session needs one of its own.
    call_id: str = field(default_factory=lambda: uuid4().hex)


@dataclass(frozen=True)
class Said:
    """What the model answers: a call, or words; and the tokens that it says the request took."""

    use: ToolUse | None
    text: str
    tokens: int


@dataclass
class ScriptedModel:
    uses: Sequence[ToolUse]
    port: int = 0
    #: Bodies of the requests that offered tools.
    requests: list[dict[str, Any]] = field(default_factory=list)
    #: Those that offered none, a summary's among them, too.
    all_requests: list[dict[str, Any]] = field(default_factory=list)
    answer: str = "done"
    #: What the next request with tools is said to have taken; every other one takes little.
    large: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)

    @property
    def shown(self) -> str:
        """All that the model was shown last."""
        return shown_in(self.requests[-1])

    def results(self) -> list[str]:
        """What tools answered, as the client handed it to the model, in order."""
        found: list[str] = []
        for message in self.requests[-1].get("messages", ()):
            if message["role"] == "tool":
                found.append(_plain(message["content"]))
            elif isinstance(message["content"], list):
                found += [_plain(each["content"]) for each in message["content"] if each.get("type") == "tool_result"]
        return found

    def wait_for(self, is_it: Callable[[str], bool], seconds: float) -> str | None:
        """What was shown in the first request that is it, as soon as it comes; ``None`` after so long."""
        with self.changed:
            self.changed.wait_for(lambda: any(is_it(shown_in(each)) for each in self.all_requests), seconds)
            return next((shown for each in self.all_requests if is_it(shown := shown_in(each))), None)

    def said(self, body: dict[str, Any]) -> Said:
        with self.changed:
            self.all_requests.append(body)
            use, tokens = None, _FEW
            if body.get("tools"):
                self.requests.append(body)
                tokens, self.large = self.large or _FEW, 0
                done = len(self.results())
                use = self.uses[done] if done < len(self.uses) else None
            self.changed.notify_all()
            return Said(use, _as_asked(body) or self.answer, tokens)


def _as_asked(body: dict[str, Any]) -> str:
    """Gemini CLI asks which model to take before it asks that model, and asks again until it is told."""
    is_json = body.get("generationConfig", {}).get("responseMimeType") == "application/json"
    told = {"reasoning": "simple", "model_choice": "flash", "complexity_reasoning": "simple", "complexity_score": 10}
    return json.dumps({**told, "next_speaker": "user"}) if is_json else ""


def shown_in(body: dict[str, Any]) -> str:
    return json.dumps([body.get(name) for name in _CONVERSATION], ensure_ascii=False)


@contextmanager
def scripted_model(*uses: ToolUse, answer: str = "done") -> Iterator[ScriptedModel]:
    model = ScriptedModel(uses, answer=answer)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None: ...

        def do_GET(self) -> None:
            self.reply("application/json", json.dumps({"object": "list", "data": [], "models": []}))

        def do_HEAD(self) -> None:
            self.send_response(200)
            self.end_headers()

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
            if "count_tokens" in self.path or "countTokens" in self.path:
                return self.reply("application/json", json.dumps({"input_tokens": 10, "totalTokens": _FEW}))
            written = next((write for part, write in _PROTOCOLS.items() if part in self.path), None)
            if written is None:
                return self.send_error(404)
            events = list(written(model.said(body)))
            if ":generateContent" in self.path or body.get("stream") is False:
                return self.reply("application/json", events[-1].partition("data: ")[2])
            return self.reply("text/event-stream", "".join(events))

        def reply(self, kind: str, text: str) -> None:
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


def _data(**fields: Any) -> str:
    return f"data: {json.dumps(fields)}\n\n"


def _anthropic(said: Said) -> Iterator[str]:
    use = said.use
    usage = {
        **{"input_tokens": said.tokens, "output_tokens": 5},
        **{"cache_read_input_tokens": 0, "cache_creation_input_tokens": 0},
    }
    message = {"id": f"msg_{uuid4().hex}", "type": "message", "role": "assistant", "model": "scripted", "content": []}
    yield _event("message_start", message={**message, "stop_reason": None, "stop_sequence": None, "usage": usage})
    if use is None:
        yield _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        yield _event("content_block_delta", index=0, delta={"type": "text_delta", "text": said.text})
    else:
        block = {"type": "tool_use", "id": f"toolu_{use.call_id}", "name": use.name, "input": {}}
        yield _event("content_block_start", index=0, content_block=block)
        told = {"type": "input_json_delta", "partial_json": json.dumps(use.arguments)}
        yield _event("content_block_delta", index=0, delta=told)
    yield _event("content_block_stop", index=0)
    stop = {"stop_reason": "tool_use" if use else "end_turn", "stop_sequence": None}
    yield _event("message_delta", delta=stop, usage={"output_tokens": 5})
    yield _event("message_stop")


def _chat(said: Said) -> Iterator[str]:
    use = said.use

    def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _data(id="c", object="chat.completion.chunk", created=1, model="m", choices=[choice], **more)

    yield chunk({"role": "assistant", "content": ""})
    if use is None:
        yield chunk({"content": said.text})
    else:
        function = {"name": use.name, "arguments": json.dumps(use.arguments)}
        yield chunk(
            {"tool_calls": [{"index": 0, "id": f"call_{use.call_id}", "type": "function", "function": function}]}
        )
    usage = {"prompt_tokens": said.tokens, "completion_tokens": 5, "total_tokens": said.tokens + 5}
    yield chunk({}, "tool_calls" if use else "stop", usage=usage)
    yield "data: [DONE]\n\n"


def _responses(said: Said) -> Iterator[str]:
    response = {"id": f"resp_{uuid4().hex}", "object": "response", "model": "scripted"}
    yield _event("response.created", response={**response, "status": "in_progress", "output": []})
    item: dict[str, Any]
    if said.use is None:
        content = [{"type": "output_text", "text": said.text, "annotations": []}]
        item = {"type": "message", "id": f"msg_{uuid4().hex}", "role": "assistant", "content": content}
    else:
        call = {"call_id": f"call_{said.use.call_id}", "name": said.use.name}
        item = {"type": "function_call", "id": f"fc_{uuid4().hex}", **call, "arguments": json.dumps(said.use.arguments)}
    item["status"] = "completed"
    yield _event("response.output_item.added", output_index=0, item={**item, "status": "in_progress"})
    yield _event("response.output_item.done", output_index=0, item=item)
    usage = {"input_tokens": said.tokens, "output_tokens": 5, "total_tokens": said.tokens + 5}
    yield _event("response.completed", response={**response, "status": "completed", "output": [item], "usage": usage})


def _gemini(said: Said) -> Iterator[str]:
    part: dict[str, Any] = {"text": said.text}
    if said.use is not None:
        part = {"functionCall": {"name": said.use.name, "args": said.use.arguments}}
    candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
    usage = {"promptTokenCount": said.tokens, "candidatesTokenCount": 5, "totalTokenCount": said.tokens + 5}
    yield _data(responseId=uuid4().hex, modelVersion="m", candidates=[candidate], usageMetadata=usage)


#: By what their paths hold.
_PROTOCOLS: dict[str, Callable[[Said], Iterator[str]]] = {
    "/messages": _anthropic,
    "/chat/completions": _chat,
    "/responses": _responses,
    "enerateContent": _gemini,
}
