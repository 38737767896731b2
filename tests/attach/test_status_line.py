"""The status line that ``ovillo install`` puts below the prompt of a client that takes one."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.interfaces.cli_runs import CommandLine

OWN = '{\n\t"model": "opus",\n\t"statusLine": {"type": "command", "command": "mine"}\n}\n'
NONE = '{\n\t"model": "opus"\n}'

pytestmark = pytest.mark.requirement("CLI-91")


@pytest.fixture
def line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    (tmp_path / "home/.claude").mkdir(parents=True)
    return CommandLine(capsys, tmp_path / "home", tmp_path / "data")


def settings(line: CommandLine) -> Path:
    return line.home / ".claude/settings.json"


@pytest.mark.parametrize("before", [NONE, NONE.replace("\n", "\r\n"), "{}", None])
def test_it_is_put_in_where_there_is_none_and_taken_out_to_the_byte(line: CommandLine, before: str | None) -> None:
    if before is not None:
        settings(line).write_bytes(before.encode())
    shown = line.run("install", "claude", "--yes")
    assert (shown.code, "settings.json" in shown.out) == (0, True)
    put = json.loads(settings(line).read_text())
    # As Claude Code starts it: a line for the shell, with its own JSON on standard input.
    given = json.dumps({"model": {"display_name": "Opus"}, "cost": {"total_cost_usd": 0.42}})
    said = subprocess.run(
        ["/bin/sh", "-c", put["statusLine"]["command"]],
        env={"PATH": "/usr/bin:/bin", "HOME": str(line.home), "OVILLO_EMBEDDER": "none"},
        input=given,
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == "Opus · session $0.42\n"
    assert "Nothing to change." in line.run("install", "claude", "--yes").out
    assert "Claude Code: attached; " in line.run("doctor").out
    assert line.run("uninstall", "claude", "--yes").code == 0
    assert (settings(line).read_bytes() if settings(line).exists() else None) == (before.encode() if before else None)
    assert [each.name for each in (line.home / ".claude").iterdir()] == (["settings.json"] if before else [])


def test_another_s_status_line_stays_and_is_named(line: CommandLine) -> None:
    settings(line).write_text(OWN)
    shown = line.run("install", "claude", "--yes")
    assert shown.code == 0
    assert "has an entry statusLine that `ovillo install` did not write: it stays as it is." in shown.out
    assert settings(line).read_text() == OWN
    assert (line.home / ".claude/skills/ovillo/.mcp.json").exists()
    assert line.run("uninstall", "claude", "--yes").code == 0
    assert settings(line).read_text() == OWN


def test_one_that_its_user_put_in_place_of_ours_stays_and_is_no_fault(line: CommandLine) -> None:
    settings(line).write_text(NONE)
    assert line.run("install", "claude", "--yes").code == 0
    settings(line).write_text(OWN)
    assert line.run("install", "claude", "--yes").code == 0
    assert "Claude Code: attached; " in line.run("doctor").out
    assert line.run("uninstall", "claude", "--yes").code == 0
    assert settings(line).read_text() == OWN


@pytest.mark.parametrize("option", ["--no-statusline", "--no-hooks"])
def test_it_can_be_left_out_and_taken_away_alone(line: CommandLine, option: str) -> None:
    settings(line).write_text(NONE)
    assert line.run("install", "claude", "--yes", option).code == 0
    assert settings(line).read_text() == NONE
    assert line.run("install", "claude", "--yes").code == 0
    assert "statusline" in settings(line).read_text()
    assert line.run("install", "claude", "--yes", option).code == 0
    assert settings(line).read_text() == NONE


def test_settings_that_cannot_be_taken_apart_cost_the_status_line_only(line: CommandLine) -> None:
    settings(line).write_text('{"model": ')
    shown = line.run("install", "claude", "--yes")
    assert (shown.code, "No status line: " in shown.out) == (0, True)
    assert settings(line).read_text() == '{"model": '
    assert (line.home / ".claude/skills/ovillo/.mcp.json").exists()


def test_another_data_folder_is_named_in_it(line: CommandLine) -> None:
    assert line.run("install", "claude", "--yes").code == 0
    words = shlex.split(json.loads(settings(line).read_text())["statusLine"]["command"])
    assert words[-3:] == ["--data-dir", str(line.data_dir), "statusline"]
