"""``ovillo service`` on a home of its own: the file that is written, the calls of the system's manager, and what is left afterwards."""

from __future__ import annotations

import json
import os
import plistlib
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ovillo import __version__
from ovillo.attach.login.service import LoginService
from ovillo.attach.paths import Machine
from ovillo.security.own_servers import announced
from ovillo.settings import load_settings
from tests.interfaces.cli_runs import CommandLine

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="written for systemd's commands")

UNIT = ".config/systemd/user/ovillo.service"
#: A manager that notes what it is told, and that runs what it was told to start.
SYSTEMCTL = """#!/bin/sh
echo "$2 $3" >>"{notes}"
case "$2" in
    is-active) test -e "{state}" ;;
    restart) test ! -e "{notes}.broken" || {{ echo "Failed to connect to bus" >&2; exit 1; }}; touch "{state}" ;;
    stop) rm -f "{state}" ;;
esac
"""


@pytest.fixture
def line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    home, programs = tmp_path / "home", tmp_path / "bin"
    home.mkdir()
    programs.mkdir()
    ctl = programs / "systemctl"
    ctl.write_text(SYSTEMCTL.format(notes=tmp_path / "notes", state=tmp_path / "state"), encoding="utf-8")
    ctl.chmod(0o755)
    return CommandLine(capsys, home, tmp_path / "data", {"PATH": f"{programs}:{os.environ['PATH']}"})


def everything(folder: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def told(tmp_path: Path) -> list[str]:
    """What the manager was told since the last time, but for questions."""
    notes = tmp_path / "notes"
    lines = notes.read_text(encoding="utf-8").splitlines() if notes.exists() else []
    notes.unlink(missing_ok=True)
    return [each.split()[0] for each in lines if "is-active" not in each]


@pytest.mark.requirement("PACK-1")
def test_the_service_is_put_in_once_and_taken_out_whole(line: CommandLine, tmp_path: Path) -> None:
    before = everything(line.home)
    done = line.run("service", "install", "--yes")
    assert (done.code, "It runs, and will whenever you log in (systemd)." in done.out) == (0, True), done
    assert told(tmp_path) == ["daemon-reload", "enable", "restart"]
    put_in = everything(line.home)
    again = line.run("service", "install", "--yes")
    assert (again.code, "Nothing to change." in again.out, told(tmp_path)) == (0, True, [])
    assert everything(line.home) == put_in
    status = line.run("service", "status", "--json").json()
    assert (status["installed"], status["current"], status["running"]) == (True, True, True)
    assert line.run("service", "uninstall", "--yes").code == 0
    assert told(tmp_path) == ["stop", "disable", "daemon-reload"]
    assert everything(line.home) == before
    assert not (line.data_dir / "at-login.json").exists()
    assert line.run("service", "status", "--json").json()["installed"] is False


@pytest.mark.requirement("PACK-1")
def test_a_dry_run_writes_nothing_and_tells_the_manager_nothing(line: CommandLine, tmp_path: Path) -> None:
    before = everything(tmp_path)
    done = line.run("service", "install", "--dry-run")
    assert (done.code, UNIT in done.out) == (0, True)
    assert everything(tmp_path) == before
    assert line.run("service", "install", "--yes").code == 0
    put_in = everything(line.home)
    told(tmp_path)
    assert f"removed  {line.home / UNIT}" in line.run("service", "uninstall", "--dry-run").out
    assert (everything(line.home), told(tmp_path)) == (put_in, [])


@pytest.mark.requirement("PACK-2")
def test_a_file_of_that_name_that_another_wrote_is_named_and_left_alone(line: CommandLine, tmp_path: Path) -> None:
    theirs = line.home / UNIT
    theirs.parent.mkdir(parents=True)
    theirs.write_text("[Service]\nExecStart=/usr/bin/theirs\n")
    done = line.run("service", "install", "--yes")
    assert (done.code != 0, "ovillo.service is not ovillo's: it stays as it is" in done.err) == (True, True)
    assert "was not written by" in line.run("service", "status").out
    assert "was written by hand or by another" in line.run("service", "uninstall", "--yes").err
    assert (theirs.read_text(), told(tmp_path)) == ("[Service]\nExecStart=/usr/bin/theirs\n", [])


@pytest.mark.requirement("PACK-2")
def test_a_unit_that_its_user_changed_stays_when_the_service_ends(line: CommandLine, tmp_path: Path) -> None:
    assert line.run("service", "install", "--yes").code == 0
    unit = line.home / UNIT
    unit.write_text(unit.read_text() + "# mine\n")
    assert "out of date" in line.run("service", "status").out
    done = line.run("service", "uninstall", "--yes")
    assert (done.code, "was changed since it was written: it stays" in done.out) == (0, True)
    assert "disable" in told(tmp_path)
    assert unit.read_text().endswith("# mine\n")


def test_a_manager_that_cannot_start_it_now_is_quoted_and_it_starts_at_the_next_login(
    line: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "notes.broken").touch()
    done = line.run("service", "install", "--yes")
    assert done.code == 0
    assert (
        "It starts when you log in next. `systemctl --user restart ovillo.service`: Failed to connect to bus"
        in done.out
    )
    assert "enable" in told(tmp_path)
    (tmp_path / "notes.broken").unlink()
    assert "It runs, and will whenever you log in" in line.run("service", "install", "--yes").out


def test_a_system_without_systemd_is_told_what_to_start_instead(line: CommandLine, tmp_path: Path) -> None:
    line.environment = {"PATH": str(tmp_path / "nothing")}
    done = line.run("service", "install", "--yes")
    assert (done.code != 0, "no systemctl" in done.err, " serve" in done.err) == (True, True, True)
    assert everything(line.home) == {}


def test_settings_of_this_shell_only_are_named(line: CommandLine) -> None:
    line.environment = {**line.environment, "OVILLO_PORT": "9000"}
    assert "Set in this shell only, so not for that server: OVILLO_EMBEDDER, OVILLO_PORT." in (
        line.run("service", "install", "--dry-run").out
    )


@pytest.mark.requirement("PACK-3")
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not here")
@pytest.mark.parametrize("folder", ["data", 'a "b" %h $HOME c\\d'])
def test_systemd_itself_finds_nothing_wrong_with_the_unit(folder: str, line: CommandLine, tmp_path: Path) -> None:
    line.data_dir = tmp_path / folder
    assert line.run("service", "install", "--yes").code == 0
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--user", str(line.home / UNIT)],
        env={**os.environ, "HOME": str(line.home), "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.requirement("PACK-3")
def test_the_very_line_of_the_unit_starts_a_server_from_an_empty_environment(line: CommandLine, tmp_path: Path) -> None:
    assert line.run("service", "install", "--yes").code == 0
    (start,) = [
        each.removeprefix("ExecStart=")
        for each in (line.home / UNIT).read_text().splitlines()
        if each.startswith("ExecStart=")
    ]
    settings = line.home / ".config/ovillo/ovillo.toml"
    settings.parent.mkdir()
    settings.write_text('port = 0\nembedder = "none"\n')
    server = subprocess.Popen(
        shlex.split(start), env={"HOME": str(line.home), "PATH": os.defpath}, cwd="/", stderr=subprocess.PIPE, text=True
    )
    watch = threading.Timer(60, server.kill)
    watch.start()
    try:
        assert server.stderr is not None
        said = next(each for each in server.stderr if "http://127.0.0.1:" in each)
        status = line.run("service", "status", "--json").json()
        assert [each["pid"] for each in status["servers"]] == [server.pid]
        assert status["servers"][0]["url"] in said
        server.send_signal(signal.SIGTERM)
        server.stderr.read()
        assert server.wait() in {0, -signal.SIGTERM}, "systemd takes all else for a fault, and starts it again"
    finally:
        watch.cancel()
        server.kill()
        server.wait()
        server.stderr.close()


@pytest.mark.requirement("PACK-1")
def test_a_server_that_was_started_before_an_upgrade_is_named_and_started_anew(
    line: CommandLine, tmp_path: Path
) -> None:
    assert line.run("service", "install", "--yes").code == 0
    told(tmp_path)
    with announced(line.data_dir, "http://127.0.0.1:8765", "token", 1_795_000_000_000, "a"):
        assert line.run("service", "install", "--yes").out.endswith("Nothing to change.\n")
        (said,) = (line.data_dir / "servers").glob("*.json")
        said.write_text(said.read_text().replace(__version__, "0.0.9"))
        assert f"It is ovillo 0.0.9, this one is {__version__}." in line.run("service", "status").out
        checks = {check["name"]: check for check in line.run("doctor", "--json").json()["checks"]}
        assert "is of ovillo 0.0.9" in checks["server at login"]["detail"]
        assert checks["server at login"]["hint"] == "ovillo service install"
        assert line.run("service", "install", "--yes").code == 0
    assert "restart" in told(tmp_path)


def _planned(tmp_path: Path, platform: str, **variables: str) -> tuple[Path, bytes]:
    """The file that would be written on another system."""
    environment = {"HOME": str(tmp_path), "OVILLO_DATA_DIR": str(tmp_path / "da & ta"), **variables}
    settings = load_settings(environment)
    (change,) = LoginService(settings, Machine(tmp_path, environment, platform)).install().changes
    assert change.after is not None
    return change.path, change.after


@pytest.mark.requirement("PACK-4")
def test_launchd_is_given_a_property_list(tmp_path: Path) -> None:
    path, text = _planned(tmp_path, "darwin")
    assert path == tmp_path / "Library/LaunchAgents/ovillo.server.plist"
    read = plistlib.loads(text)
    program, *words = read["ProgramArguments"]
    assert (Path(program).is_absolute(), words[-3:]) == (True, ["--data-dir", str(tmp_path / "da & ta"), "serve"])
    assert (read["Label"], read["RunAtLoad"], read["KeepAlive"]) == (path.stem, True, {"SuccessfulExit": False})
    assert read["StandardErrorPath"] == str(tmp_path / "da & ta" / "server.log")


@pytest.mark.requirement("PACK-4")
def test_windows_is_given_a_task_for_the_logon_of_this_user(tmp_path: Path) -> None:
    path, text = _planned(tmp_path, "win32", USERDOMAIN="DESK", USERNAME="ana & co")
    assert path == tmp_path / "AppData/Roaming/ovillo/at-login.xml"
    task = ElementTree.fromstring(text)
    space = {"t": "http://schemas.microsoft.com/windows/2004/02/mit/task"}
    assert task.findtext("t:Triggers/t:LogonTrigger/t:UserId", None, space) == r"DESK\ana & co"
    assert task.findtext("t:Principals/t:Principal/t:RunLevel", None, space) == "LeastPrivilege"
    assert Path(task.findtext("t:Actions/t:Exec/t:Command", "", space)).is_absolute()
    data_dir = tmp_path / "da & ta"
    assert task.findtext("t:Actions/t:Exec/t:Arguments", None, space) == f'--data-dir "{data_dir}" serve'


def test_a_system_that_is_not_known_is_said(tmp_path: Path) -> None:
    settings = load_settings({"HOME": str(tmp_path)})
    with pytest.raises(Exception, match="does not know how haiku1 starts programs"):
        LoginService(settings, Machine(tmp_path, {}, "haiku1"))


def test_what_programs_are_told_is_json(line: CommandLine) -> None:
    done = json.loads(line.run("service", "install", "--dry-run", "--json").out)
    assert (done["done"], done["manager"]) == (False, "systemd")
    assert done["changes"] == [{"path": str(line.home / UNIT), "what": "new"}]
    assert done["starts"][-3:] == ["--data-dir", str(line.data_dir), "serve"]
