"""``ovillo install`` and ``ovillo uninstall`` on a home with clients, looked at from outside: which bytes changed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ovillo.attach.clients import CLIENTS
from ovillo.attach.command import hook_program
from ovillo.attach.ledger import digest
from ovillo.attach.paths import Machine
from tests.interfaces.cli_runs import CommandLine

CODEX = (
    'model = "x" # mine\n\n[mcp_servers.other]\ncommand = "other"\n'
    'env = { KEY = "sk-ant-api03-abcdefghijklmnopqrstuvwx" }\n'
)
CURSOR = '{\n  // mine\n  "mcpServers": {\n    "other": {"command": "x"} // theirs\n  }\n}\n'
BY_USER = ("codex", "cursor")


@pytest.fixture
def line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    home = tmp_path / "home"
    for name, text in ((".codex/config.toml", CODEX), (".cursor/mcp.json", CURSOR)):
        (home / name).parent.mkdir(parents=True)
        (home / name).write_text(text)
    (home / ".claude").mkdir()
    return CommandLine(capsys, home, tmp_path / "data")


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.requirement("CLI-65")
def test_every_client_that_is_found_is_attached_and_taken_off_to_the_byte(line: CommandLine) -> None:
    before, folders = files(line.home), sorted(line.home.rglob("*"))
    done = line.run("install", "--yes")
    assert done.code == 0, done.err
    assert "Claude Code, Codex CLI, Cursor: attached." in done.out
    assert "sk-ant" not in done.out, "what stands beside our entry may be a secret"
    settings = tomllib.loads((line.home / ".codex/config.toml").read_text())
    assert settings["mcp_servers"].keys() == {"other", "ovillo"}
    assert (line.home / ".codex/config.toml.before-ovillo").read_text() == CODEX
    attached = files(line.home)
    again = line.run("install", "--yes")
    assert (again.code, "Nothing to change." in again.out) == (0, True)
    assert files(line.home) == attached
    assert line.run("uninstall", "--yes").code == 0
    assert files(line.home) == before
    assert sorted(line.home.rglob("*")) == folders
    assert not (line.data_dir / "bin").exists()


@pytest.mark.requirement("CLI-65")
@pytest.mark.parametrize("setup", CLIENTS, ids=lambda setup: setup.name)
@pytest.mark.parametrize("place", ["user", "project"])
def test_each_client_of_the_table_is_attached_on_an_empty_machine_and_leaves_nothing(
    setup: object, place: str, line: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = setup.name  # type: ignore[attr-defined]
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    before = files(tmp_path)
    given = [name, "--yes", *(["--project"] if place == "project" else [])]
    done = line.run("install", *given)
    if place == "project" and not (setup.entry and setup.entry.project):  # type: ignore[attr-defined]
        assert "no settings of a project" in done.err
        return
    assert done.code == 0, done.err
    new = files(tmp_path).keys() - before.keys()
    assert any(str(path).startswith(("home/", "project/")) for path in new)
    if place == "project":
        assert not any(str(path).startswith("home/") for path in new)
    assert line.run("uninstall", *given).code == 0
    assert files(tmp_path) == before


@pytest.mark.requirement("CLI-66")
def test_what_clients_are_told_to_start_starts_without_this_shells_path(line: CommandLine, tmp_path: Path) -> None:
    assert line.run("install", "claude", "--yes").code == 0
    entry = json.loads((line.home / ".claude/skills/ovillo/.mcp.json").read_text())["mcpServers"]["ovillo"]
    assert Path(entry["command"]).is_absolute()
    assert entry["args"] == ["--data-dir", str(line.data_dir), "mcp"]
    asked = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            },
        }
    )
    started = subprocess.run(
        [entry["command"], *entry["args"]],
        input=asked + "\n",
        env={"HOME": str(line.home), "PATH": "/nowhere", "OVILLO_EMBEDDER": "none"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert json.loads(started.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "ovillo"


@pytest.mark.requirement("CLI-66")
def test_a_hook_of_what_lay_in_a_cache_calls_what_put_it_there_when_it_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached = tmp_path / "uv" / "archive-v0" / "x"
    monkeypatch.setattr(sys, "prefix", str(cached))
    monkeypatch.setattr(sys, "executable", str(cached / "bin" / "python"))
    hook, called = tmp_path / "hook", tmp_path / "called"
    hook.write_text(hook_program(tmp_path / "data"))
    uvx = tmp_path / "bin" / "uvx"
    uvx.parent.mkdir()
    uvx.write_text(f'#!/bin/sh\necho "$@" >{called}\nexit 2\n')
    uvx.chmod(0o755)
    environment = {"PATH": f"{uvx.parent}:{os.defpath}"}
    done = subprocess.run(["sh", str(hook), "stop", "--client", "codex"], env=environment, input=b"{}", check=False)
    assert done.returncode == 0
    assert called.read_text() == f"--offline ovillo --data-dir {tmp_path / 'data'} hook stop --client codex\n"


@pytest.mark.requirement("CLI-67")
def test_an_entry_of_that_name_that_somebody_else_wrote_stays_and_is_named(line: CommandLine) -> None:
    path = line.home / ".cursor/mcp.json"
    path.write_text('{"mcpServers": {"ovillo": {"command": "mine"}}}')
    done = line.run("install", "cursor", "--yes")
    assert "did not write: it stays as it is" in done.out
    assert path.read_text() == '{"mcpServers": {"ovillo": {"command": "mine"}}}'
    assert "put in by hand" in line.run("uninstall", "cursor", "--yes").err


@pytest.mark.requirement("CLI-67")
def test_what_was_changed_since_stays_when_the_rest_is_taken_off(line: CommandLine) -> None:
    assert line.run("install", "cursor", "claude", "--yes").code == 0
    path, skill = line.home / ".cursor/mcp.json", line.home / ".claude/skills/ovillo/skills/ovillo/SKILL.md"
    path.write_text(path.read_text().replace('"other"', '"another"'))
    skill.write_text("mine now")
    done = line.run("uninstall", "--yes")
    assert "was changed since it was written: it stays" in done.out
    assert path.read_text() == CURSOR.replace('"other"', '"another"')
    assert skill.read_text() == "mine now"
    assert not (line.home / ".claude/skills/ovillo/.mcp.json").exists()


@pytest.mark.requirement("CLI-68")
@pytest.mark.parametrize("text", ['{"mcpServers": {', '{"a": 1, "a": 2}', "\ufffe"])
def test_broken_settings_are_named_and_left_and_others_are_attached(text: str, line: CommandLine) -> None:
    path = line.home / ".cursor/mcp.json"
    path.write_text(text)
    done = line.run("install", "--yes")
    assert (done.code != 0, "mcp.json is left as it is" in done.out, "Left as they are: Cursor" in done.err) == (
        True,
        True,
        True,
    )
    assert path.read_text() == text
    assert (line.home / ".claude/skills/ovillo/.mcp.json").exists()


@pytest.mark.requirement("CLI-68")
@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anything")
def test_read_only_settings_are_named_and_nothing_of_that_client_is_changed(line: CommandLine) -> None:
    folder = line.home / ".codex"
    before = files(line.home)
    folder.chmod(0o500)
    try:
        done = line.run("install", "codex", "--yes")
    finally:
        folder.chmod(0o700)
    assert "cannot be written" in done.err
    assert files(line.home) == before


def test_one_file_that_cannot_be_written_takes_the_others_of_its_client_back(line: CommandLine) -> None:
    before = files(line.home)
    (line.home / ".codex/hooks.json").mkdir()
    done = line.run("install", "codex", "--yes")
    assert done.code != 0
    assert files(line.home) == before


def test_a_dry_run_shows_the_difference_and_changes_nothing(line: CommandLine, tmp_path: Path) -> None:
    before = files(tmp_path)
    done = line.run("install", "--dry-run")
    assert "+[mcp_servers.ovillo]" in done.out
    assert files(tmp_path) == before


def test_without_hooks_no_hook_is_written_and_later_ones_go_away(line: CommandLine) -> None:
    hooks = [line.home / ".claude/skills/ovillo/hooks/hooks.json", line.home / ".codex/hooks.json"]
    assert line.run("install", "claude", "codex", "--yes").code == 0
    assert all(path.exists() for path in hooks)
    assert line.run("install", "claude", "codex", "--yes", "--no-hooks").code == 0
    assert not any(path.exists() for path in hooks)


def test_hooks_of_others_in_the_same_file_stay_before_ours(line: CommandLine) -> None:
    path = line.home / ".codex/hooks.json"
    theirs = {"hooks": [{"type": "command", "command": "theirs"}]}
    path.write_text(json.dumps({"hooks": {"Stop": [theirs]}}))
    before = path.read_bytes()
    assert line.run("install", "codex", "--yes").code == 0
    assert json.loads(path.read_text())["hooks"]["Stop"][0] == theirs
    assert line.run("uninstall", "codex", "--yes").code == 0
    assert path.read_bytes() == before


def test_settings_behind_a_link_are_written_where_it_leads(line: CommandLine, tmp_path: Path) -> None:
    kept, path = tmp_path / "dotfiles.json", line.home / ".cursor/mcp.json"
    path.rename(kept)
    path.symlink_to(kept)
    assert line.run("install", "cursor", "--yes").code == 0
    assert path.is_symlink()
    assert "ovillo" in kept.read_text()
    assert line.run("uninstall", "--yes").code == 0
    assert kept.read_text() == CURSOR


def test_the_mode_of_settings_stays(line: CommandLine) -> None:
    path = line.home / ".cursor/mcp.json"
    path.chmod(0o640)
    assert line.run("install", "cursor", "--yes").code == 0
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_machine_without_clients_and_an_unknown_one_are_said(line: CommandLine, tmp_path: Path) -> None:
    bare = CommandLine(line.capsys, tmp_path / "bare", tmp_path / "data")
    assert "No client that ovillo can attach to was found" in bare.run("install", "--yes").err
    assert "Nearest: codex" in line.run("install", "codec", "--yes").err


@pytest.mark.requirement("CLI-69")
def test_doctor_tells_of_each_client_what_is_attached_and_the_command_that_mends_it(line: CommandLine) -> None:
    assert line.run("install", "claude", "codex", "--yes").code == 0
    (line.home / ".codex/config.toml").write_text(CODEX)
    said = line.run("doctor").out
    assert "Claude Code: attached; its hooks have not called yet\n" in said
    assert "Codex CLI: attached, but what was put in is gone or changed" in said
    assert "ovillo install codex" in said
    assert "Cursor: in use, not attached" in said


@pytest.mark.requirement("CLI-69")
def test_doctor_tells_which_session_was_read_last_and_whether_hooks_called_since(
    line: CommandLine, fixtures: Path
) -> None:
    shutil.copytree(fixtures / "claude-code/home", line.home, dirs_exist_ok=True)
    shutil.copytree(fixtures / "codex/home", line.home, dirs_exist_ok=True)
    assert line.run("install", "claude", "--yes").code == 0
    told = doctor_of(line, "claude_code")
    assert (told["status"], told["attached"], told["hooksSeen"], told["lastSession"]) == ("ok", "installed", None, None)
    assert line.run("scan").code == 0
    told = doctor_of(line, "claude_code")
    listed = line.run("session", "list", "--source", "claude_code", "--json").json()["sessions"]
    assert told["lastSession"]["id"] == listed[0]["id"]
    assert "last session read: " in told["detail"]
    long_ago = 1_500_000_000
    for path in (line.home / ".claude/skills/ovillo").rglob("*"):
        os.utime(path, (long_ago, long_ago))
    told = doctor_of(line, "claude_code")
    assert (told["status"], "though a session went on since" in told["detail"]) == ("warn", True)
    hook = [str(line.data_dir / "bin/ovillo-hook"), "stop", "--client", "claude_code"]
    subprocess.run(hook, input=b"{}", check=True)
    assert doctor_of(line, "claude_code")["status"] == "ok"
    assert (doctor_of(line, "codex")["attached"], doctor_of(line, "codex")["hint"]) == ("no", "ovillo install codex")
    assert doctor_of(line, "codex")["lastSession"] is not None


@pytest.mark.requirement("CLI-69")
def test_doctor_tells_when_hooks_or_what_they_start_is_gone_or_another_s(line: CommandLine) -> None:
    assert line.run("install", "claude", "--yes").code == 0
    (line.data_dir / "bin/ovillo-hook").unlink()
    told = doctor_of(line, "claude_code")
    assert ("ovillo-hook" in told["detail"], told["hint"]) == (True, "ovillo install claude_code")
    assert line.run("install", "claude", "--yes").code == 0
    told = doctor_of(line, "claude_code")
    assert told["status"] == "ok", told
    kept = line.data_dir / "attached.json"
    server = line.home / ".claude/skills/ovillo/.mcp.json"
    moved = server.read_bytes().replace(b'"command": "', b'"command": "/elsewhere')
    kept.write_text(kept.read_text().replace(digest(server.read_bytes()), digest(moved)))
    server.write_bytes(moved)
    told = doctor_of(line, "claude_code")
    assert ("by another ovillo" in told["detail"], told["hint"]) == (True, "ovillo install claude_code")
    assert line.run("install", "claude", "--yes").code == 0
    assert doctor_of(line, "claude_code")["status"] == "ok"


def doctor_of(line: CommandLine, client: str) -> dict[str, Any]:
    checks = line.run("doctor", "--json").json()["checks"]
    return next(each for each in checks if each.get("client") == client)


def test_paths_are_those_of_each_system(tmp_path: Path) -> None:
    for platform, folder in (
        ("linux", ".config"),
        ("darwin", "Library/Application Support"),
        ("win32", "AppData/Roaming"),
    ):
        assert Machine(tmp_path, {}, platform).path("{config}/Code/User") == tmp_path / folder / "Code/User"
    moved = Machine(tmp_path, {"CODEX_HOME": "/srv/codex"})
    assert moved.path("{CODEX_HOME|~/.codex}/config.toml") == Path("/srv/codex/config.toml")
