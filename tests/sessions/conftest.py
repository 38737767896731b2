"""One store with the real histories of all four clients, read once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ovillo.app import open_services
from ovillo.interfaces.services import Services
from ovillo.settings import Settings


@pytest.fixture(scope="session")
def services(fixtures: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    home = tmp_path_factory.mktemp("home")
    for client in ("claude-code", "codex", "gemini-cli", "opencode-sqlite"):
        shutil.copytree(fixtures / client / "home", home, dirs_exist_ok=True)
    data = tmp_path_factory.mktemp("data")
    opened = open_services(Settings(data_dir=data, home=home, environment={"HOME": str(home)}, embedder="none"))
    opened.ingest.scan()
    yield opened
    opened.close()
