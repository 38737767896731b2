"""Using an installed ovillo as somebody who has only its command: nothing of this checkout is near.

Owns what such a person tries.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters, stdio_client

from ovillo import __version__
from tests.interfaces.cli_runs import copy_homes

LONGEST_S = 120


@dataclass
class Stranger:
    """``command`` starts ovillo; the home folder holds real histories and nothing else."""

    command: list[str]
    home: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": os.defpath, "LANG": "C.UTF-8", **self.variables}

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self.command, *arguments],
            env=self.environment,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "--json"))

    def tools(self) -> list[str]:
        """Asked by the official client."""
        program, *before = self.command
        server = StdioServerParameters(command=program, args=[*before, "mcp"], env=self.environment, cwd=self.home)

        async def ask() -> list[str]:
            with anyio.fail_after(LONGEST_S):
                async with Client(stdio_client(server)) as client:
                    return [tool.name for tool in (await client.list_tools()).tools]

        return anyio.run(ask)

    def tries_everything(self, fixtures: Path, *, attaches: bool = True) -> dict[str, Any]:
        """A first day. The checks of ``ovillo doctor`` by name. ``attaches``: what clients would be told to start is there."""
        copy_homes(fixtures, self.home, ("claude-code", "codex"))
        assert self.run("--version").split()[-1] == __version__
        self.run("scan")
        assert self.json("search", "retry")["sessions"]
        session = self.json("session", "list")["sessions"][0]["id"]
        page = self.home / "session.html"
        self.run("session", "export", session, "--format", "html", "--output", str(page))
        assert "<html" in page.read_text(encoding="utf-8")
        if attaches:
            self.run("install", "claude", "codex", "--yes")
            self.run("uninstall", "--yes")
        starts = self.json("service", "install", "--dry-run")["starts"]
        assert (Path(starts[0]).is_absolute(), starts[-1]) == (True, "serve")
        assert {"search_sessions", "recover_context"} <= set(self.tools())
        return {check["name"]: check for check in self.json("doctor")["checks"]}
