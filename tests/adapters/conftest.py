from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ovillo.adapters import opened
from tests.interfaces.cli_runs import CommandLine

STAND_INS = Path(__file__).parent / "stand_ins"
_THEIRS = ("agents", "claude_agent_sdk", "ovillo.adapters.openai_agents", "ovillo.adapters.claude_agent_sdk")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The data folder of a home of its own; SDKs can be imported as far as adapters do."""
    monkeypatch.syspath_prepend(str(STAND_INS))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    monkeypatch.delenv("OVILLO_DATA_DIR", raising=False)
    monkeypatch.setenv("OVILLO_EMBEDDER", "none")
    yield tmp_path / "data"
    opened.close()
    for name in [name for name in sys.modules if name.startswith(_THEIRS)]:
        del sys.modules[name]


@pytest.fixture
def ovillo(data: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> CommandLine:
    return CommandLine(capsys, tmp_path, data)
