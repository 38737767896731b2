"""A real server in a process of its own, and small ways to talk to it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from ovillo.security.own_servers import find_server


class Served:
    """``host`` is ``127.0.0.1:PORT``; ``credential`` are the headers that let this user in, sent unless others are."""

    def __init__(self, process: subprocess.Popen[str], host: str, credential: Mapping[str, str]) -> None:
        self.process = process
        self.host = host
        self.credential = credential

    def ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any]:
        """Status and the decoded answer; ``body`` goes as JSON, or as it is when it is bytes."""
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        connection = http.client.HTTPConnection(self.host, timeout=30)
        try:
            sent = {"content-type": "application/json", **self.credential, **(headers or {})}
            connection.request(method, path, data, sent)
            answer = connection.getresponse()
            text = answer.read().decode()
            return answer.status, json.loads(text) if "json" in answer.headers.get("content-type", "") else text
        finally:
            connection.close()

    def session(self, session_id: str) -> str:
        status, _ = self.ask("POST", "/api/sessions", {"id": session_id, "name": session_id})
        assert status in {200, 201}
        return session_id

    def append(self, session_id: str, content: str, key: str) -> Mapping[str, Any]:
        status, said = self.ask(
            "POST",
            f"/api/sessions/{session_id}/messages",
            {"role": "user", "content": content},
            {"Idempotency-Key": key},
        )
        assert status in {200, 201}, said
        return said  # type: ignore[no-any-return]

    def socket(self, path: str = "/ws", **options: Any) -> ClientConnection:
        """``additional_headers`` in place of what lets this user in."""
        headers = options.pop("additional_headers", self.credential)
        return connect(
            f"ws://{self.host}{path}", compression=None, max_size=None, additional_headers=headers, **options
        )


@contextmanager
def serving(home: Path, *flags: str) -> Iterator[Served]:
    """``ovillo serve`` on a free port over ``home/data``, until the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ovillo", "serve", "--port", "0", *flags],
        env=environment(home),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://([\d.]+:\d+)", line)
        assert found, line + process.stderr.read()
        server = find_server(home / "data", port=int(found[1].rpartition(":")[2]))
        yield Served(process, found[1], server.headers())
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        if process.stderr is not None:
            process.stderr.close()


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OVILLO_")}
    return {
        **kept,
        "HOME": str(home),
        "OVILLO_DATA_DIR": str(home / "data"),
        "OVILLO_EMBEDDER": "none",
        "OVILLO_WATCH": "false",
    }


def say(socket: ClientConnection, **frame: Any) -> None:
    socket.send(json.dumps(frame))


def hear(socket: ClientConnection, timeout: float = 30) -> dict[str, Any]:
    """The next frame."""
    frame = json.loads(socket.recv(timeout))
    assert isinstance(frame, dict)
    return frame


def until(socket: ClientConnection, kind: str) -> dict[str, Any]:
    """The next frame of this type; others before it are passed over."""
    while True:
        frame = hear(socket)
        if frame["type"] == kind:
            return frame
