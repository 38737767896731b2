"""A minimal MCP client over stdio: starts a server, says hello, calls tools, measures each call."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

_PROTOCOL = "2025-06-18"


class StdioClient:
    """``with StdioClient(argv, environment) as client: client.call(name, arguments)``."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        self._argv, self._environment = list(argv), dict(environment)
        self._number = 0
        #: Seconds from starting the process to the answer of tools/list.
        self.ready_s = 0.0
        self.tools: list[dict[str, Any]] = []

    def __enter__(self) -> StdioClient:
        started = time.perf_counter()
        self._process = subprocess.Popen(
            self._argv,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        hello = {
            "protocolVersion": _PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": "ovillo-bench", "version": "1"},
        }
        self._ask("initialize", hello)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.tools = self._ask("tools/list", {})["tools"]
        self.ready_s = time.perf_counter() - started
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def call(self, tool: str, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], float]:
        """The result and how long it took (seconds). Raises RuntimeError for a protocol error."""
        started = time.perf_counter()
        result = self._ask("tools/call", {"name": tool, "arguments": dict(arguments)})
        return result, time.perf_counter() - started

    @property
    def pid(self) -> int:
        return self._process.pid

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _ask(self, method: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result
        raise RuntimeError(f"{method}: the server ended without an answer")
