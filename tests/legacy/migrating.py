"""Running ``ovillo migrate`` as a user does, and looking at what is there afterwards."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ovillo.app import open_services
from ovillo.interfaces.services import Services
from tests.interfaces.cli_runs import CommandLine
from tests.interfaces.opened import settings_for

__all__ = ["line", "opened", "run"]


@pytest.fixture
def line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(capsys, tmp_path / "home", tmp_path / "data")


def run(line: CommandLine, system: str, folder: Path, *more: str) -> Mapping[str, Any]:
    ran = line.run("migrate", system, str(folder), *more, "--json")
    assert ran.code == 0, ran.err
    report: Mapping[str, Any] = ran.json()
    return report


@contextmanager
def opened(line: CommandLine) -> Iterator[Services]:
    services = open_services(settings_for(line.home, data_dir=line.data_dir))
    try:
        yield services
    finally:
        services.close()


def command(line: CommandLine, *arguments: str) -> tuple[list[str], dict[str, str]]:
    """The same in a process of its own."""
    environment = {"HOME": str(line.home), "OVILLO_DATA_DIR": str(line.data_dir), "OVILLO_EMBEDDER": "none"}
    return [sys.executable, "-m", "ovillo", *arguments], environment
