"""A stand-in for OpenAI's Responses API on loopback: every question gets the same answer.

Owns what it was asked.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ANSWER = "Those of 2019, since the zorvath rule."


@contextmanager
def responses() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Its address, and the requests that came."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None: ...

        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            body = json.dumps(_response(len(asked))).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.server_port}/v1", asked
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


def _response(number: int) -> dict[str, Any]:
    text = {"type": "output_text", "text": ANSWER, "annotations": [], "logprobs": []}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "status": "completed", "content": [text]}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1,
        "model": "scripted",
        "status": "completed",
        "output": [message],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {"input_tokens": 9, "output_tokens": 9, "total_tokens": 18, **details},
    }
