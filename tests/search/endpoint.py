"""A loopback server that speaks ``/v1/embeddings``, for tests: letters counted are its vectors."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSION = 64


def letters(text: str) -> list[float]:
    """Texts with the same words have near vectors; enough meaning for a test."""
    row = [0.01] * DIMENSION
    for word in text.lower().split():
        row[sum(map(ord, word)) % DIMENSION] += 1.0
    return row


class Endpoint(ThreadingHTTPServer):
    """``answer`` may be replaced by bytes or a status to answer with instead."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.status = 200
        self.body: bytes | None = None
        self.location: str | None = None
        #: More texts at once than this are refused with ``slow_status``, or get no answer before the test is over.
        self.manages: int | None = None
        self.slow_status: int | None = None
        #: From then on ``status`` is 500.
        self.fails_after: int | None = None
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(asked)
        self.server.keys.append(self.headers["Authorization"])
        if self.server.fails_after is not None and len(self.server.asked) > self.server.fails_after:
            self.server.status = 500
        if self.server.manages is not None and len(asked["input"]) > self.server.manages:
            if self.server.slow_status is None:
                self.server.over.wait()
                return
            self.send_response(self.server.slow_status)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        data = [{"index": i, "embedding": letters(text)} for i, text in enumerate(asked["input"])]
        body = self.server.body if self.server.body is not None else json.dumps({"data": data[::-1]}).encode()
        self.send_response(self.server.status)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Quiet."""


@contextmanager
def endpoint() -> Iterator[Endpoint]:
    server = Endpoint()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join()
