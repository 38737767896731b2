"""Real Claude Code with what ``ovillo install`` puts into it, and without any of it afterwards."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.agents import needs_clients, own_claude
from tests.clients.scripted_model import ToolUse, scripted_model

pytestmark = [needs_clients]

BRIEF = "this session was compacted"


def ovillo(home: Path, *arguments: str) -> str:
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "OVILLO_EMBEDDER": "none"}
    command = [sys.executable, "-m", "ovillo", *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if "ovillo" in str(path) and path.is_file()}


@pytest.mark.requirement("CLI-71")
@pytest.mark.requirement("CLI-72")
def test_claude_code_is_told_once_what_a_compaction_took_and_calls_our_tools(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    ovillo(tmp_path, "install", "claude", "--yes")
    asking = ToolUse("mcp__plugin_ovillo_ovillo__recover_context", {"sessionID": "current"})
    with scripted_model(asking) as model:
        session = own_claude(tmp_path, model, "Round the fees half up, as the bank does, and remember why.")
        assert session in model.results()[0]
        for more in ("and the taxes", "and the tips"):
            own_claude(tmp_path, model, more, "--resume", session)
        own_claude(tmp_path, model, "/compact", "--resume", session)
        assert BRIEF not in model.shown
        own_claude(tmp_path, model, "go on", "--resume", session)
        assert model.shown.count(BRIEF) == 1
        assert model.shown.index(BRIEF) < model.shown.rindex("Round the fees half up")
    assert "before a compaction" in ovillo(tmp_path, "session", "restore", session)
    assert "Claude Code: attached; its hooks called last" in _doctor(tmp_path)
    ovillo(tmp_path, "uninstall", "--yes")
    assert {name for name in files(tmp_path / ".claude") if "skills/ovillo" in name} == set()


def _doctor(home: Path) -> str:
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "OVILLO_EMBEDDER": "none"}
    command = [sys.executable, "-m", "ovillo", "doctor"]
    return subprocess.run(command, env=environment, check=False, capture_output=True, text=True).stdout
