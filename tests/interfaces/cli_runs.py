"""Running the command line in process, on copies of the real histories."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ovillo.app import open_services
from ovillo.interfaces.cli.main import invoke
from ovillo.interfaces.cli.state import State

CLIENTS = ("claude-code", "codex", "gemini-cli", "opencode-sqlite")


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class CommandLine:
    """``run`` gives exit code and both streams; every run opens and closes everything, as a process does."""

    capsys: pytest.CaptureFixture[str]
    home: Path
    data_dir: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def run(self, *arguments: str) -> Ran:
        environment = {
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "OVILLO_DATA_DIR": str(self.data_dir),
            "OVILLO_EMBEDDER": "none",
            **self.environment,
        }
        self.capsys.readouterr()
        code = invoke(State(open_services, None, None, environment), arguments)
        streams = self.capsys.readouterr()
        return Ran(code, streams.out, streams.err)


def copy_homes(fixtures: Path, home: Path, clients: tuple[str, ...] = CLIENTS) -> None:
    for client in clients:
        shutil.copytree(fixtures / client / "home", home, dirs_exist_ok=True)
