"""A real ovillo server on loopback for benchmarks, with its processor time and memory."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any
from uuid import uuid4

from ovillo.model.errors import NotFound
from ovillo.security.own_servers import find_server

_START_S = 20.0
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class OvilloServer:
    """Started in an empty home, stopped by SIGTERM at the end. Watches nothing and embeds nothing."""

    def __init__(self, folder: Path, *options: str, home: Path | None = None, **variables: str) -> None:
        self._folder = folder
        self._data_dir = Path(variables.get("OVILLO_DATA_DIR", folder / "data"))
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home or folder),
            "OVILLO_DATA_DIR": str(folder / "data"),
            "OVILLO_WATCH": "false",
            "OVILLO_EMBEDDER": "none",
            **variables,
        }
        self._log = (folder / "server.log").open("wb")
        command = [sys.executable, "-m", "ovillo", "serve", "--port", str(self.port), *options]
        self._process = subprocess.Popen(command, env=environment, stdout=self._log, stderr=self._log)

    def __enter__(self) -> OvilloServer:
        give_up = time.monotonic() + _START_S
        while time.monotonic() < give_up:
            try:
                if self._request("GET", "/readyz", None)[0] == 200:
                    return self
            except OSError:
                time.sleep(0.05)
            if self._process.poll() is not None:
                break
        self._process.kill()
        raise RuntimeError(f"the server did not start:\n{(self._folder / 'server.log').read_text()[-2000:]}")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._log.close()

    @property
    def headers(self) -> Mapping[str, str]:
        """What lets the owner in: a server answers to this user's token."""
        try:
            return find_server(self._data_dir, port=self.port).headers()
        except NotFound:
            return {}

    def get(self, path: str) -> Any:
        return self._json("GET", path, None)

    def post(self, path: str, body: Any) -> Any:
        return self._json("POST", path, body)

    def drain(self, method: str, path: str) -> int:
        """Ask, read the answer to its end without keeping it, and give how many bytes it had."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path)
            answer = connection.getresponse()
            if answer.status >= 300:
                raise RuntimeError(f"{method} {path}: {answer.status} {answer.read(300)!r}")
            size = 0
            while chunk := answer.read(1 << 16):
                size += len(chunk)
            return size
        finally:
            connection.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def cpu_s(self) -> float:
        """User and system time so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def rss_mb(self) -> float:
        return int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]) * _PAGE / 1e6

    def _json(self, method: str, path: str, body: Any) -> Any:
        status, answer = self._request(method, path, body)
        if status >= 300:
            raise RuntimeError(f"{method} {path}: {status} {answer[:300]!r}")
        return json.loads(answer) if answer else None

    def _request(self, method: str, path: str, body: Any) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Content-Type": "application/json", "Idempotency-Key": uuid4().hex, **self.headers}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, data


def wait_for_port(port: int) -> None:
    """Until something listens there. Raises RuntimeError when nothing does in time."""
    give_up = time.monotonic() + _START_S
    while time.monotonic() < give_up:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"nothing listens on port {port}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
