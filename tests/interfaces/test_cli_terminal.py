"""What people see: the pager, colours, and terminals and pipes of any encoding. The real command, in a pseudo-terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.interfaces.cli_runs import copy_homes
from tests.interfaces.terminals import Machine

LONG = "0672048c"


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory, fixtures: Path) -> Machine:
    home = tmp_path_factory.mktemp("home")
    copy_homes(fixtures, home)
    made = Machine(home, tmp_path_factory.mktemp("data"))
    assert made.pipe("scan").returncode == 0
    assert made.pipe("session", "create", "Añadir descuentos … 日本語 🙂 «ok» → ya", "--id", "own").returncode == 0
    assert made.pipe("session", "append", "own", "¿Qué tal? 日本語 🙂").returncode == 0
    return made


@pytest.fixture
def pager(tmp_path: Path) -> Path:
    """A folder with a program called ``less`` that says how it was called and shows what it got."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("less", "mine"):
        (folder / name).write_text(f'#!/bin/sh\necho "<{name} LESS=$LESS $*>"\nexec cat\n')
        (folder / name).chmod(0o755)
    return folder


@pytest.mark.requirement("CLI-46")
def test_the_pager_is_told_to_show_colours_when_the_user_told_it_nothing(machine: Machine, pager: Path) -> None:
    path = f"{pager}:/usr/bin:/bin"
    assert "<less LESS=FRX >" in machine.type("session", "show", LONG, PATH=path).text
    own = machine.type("session", "show", LONG, PATH=path, LESS="-iR")
    assert "<less LESS=-iR >" in own.text
    assert "\x1b[" in own.raw


@pytest.mark.requirement("CLI-46")
def test_a_pager_that_would_show_the_codes_gets_none(machine: Machine, pager: Path) -> None:
    path = f"{pager}:/usr/bin:/bin"
    assert "\x1b[" not in machine.type("session", "show", LONG, PATH=path, LESS="-i").raw
    mine = machine.type("session", "show", LONG, PATH=path, PAGER="mine --wide")
    assert "<mine LESS=FRX --wide>" in mine.text
    assert "\x1b[" not in mine.raw


@pytest.mark.requirement("CLI-46")
@pytest.mark.parametrize(
    ("arguments", "changes"),
    [(("--no-pager",), {}), ((), {"PAGER": ""}), ((), {"TERM": "dumb"}), ((), {"PAGER": "no-such-program"})],
)
def test_without_a_pager_everything_is_printed(
    machine: Machine, pager: Path, arguments: tuple[str, ...], changes: dict[str, str]
) -> None:
    shown = machine.type("session", "show", LONG, *arguments, PATH=f"{pager}:/usr/bin:/bin", **changes)
    assert shown.code == 0
    assert "<less" not in shown.text
    assert len(shown.lines) > 30


@pytest.mark.requirement("CLI-47")
@pytest.mark.parametrize("changes", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
@pytest.mark.parametrize("command", ["session list", "search calcular_total", "session stats 0672048c", "nonsense"])
def test_no_codes_where_none_are_wanted(machine: Machine, changes: dict[str, str], command: str) -> None:
    assert "\x1b" not in machine.type(*command.split(), **changes).raw


COMMANDS = [
    ("--help",),
    ("session", "list"),
    ("session", "list", "--json"),
    ("session", "show", "own"),
    ("session", "show", "own", "--json"),
    ("session", "show", "日本語 …"),
    ("session", "show", "日本語 …", "--json"),
    ("search", "descuentos"),
    ("search", "¿…?日本語"),
    ("session", "lineage", "own"),
    ("session", "export", "own", "--format", "md", "--output", "-"),
    ("sources",),
    ("nónsense",),
]


@pytest.mark.requirement("CLI-48")
@pytest.mark.parametrize(
    "changes",
    [
        {"PYTHONIOENCODING": "cp1252"},
        {"PYTHONIOENCODING": "latin-1"},
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "LANG": None},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=lambda changes: " ".join(f"{name}={value}" for name, value in changes.items()),
)
def test_no_encoding_ends_a_command(machine: Machine, changes: dict[str, str]) -> None:
    for command in COMMANDS:
        usual, other = machine.pipe(*command), machine.pipe(*command, **changes)
        assert other.returncode == usual.returncode, (command, other.stderr)
        assert b"failed inside" not in other.stderr
        if "--json" in command:
            for stream in ("stdout", "stderr"):
                assert _without_the_time(getattr(other, stream)) == _without_the_time(getattr(usual, stream))


def _without_the_time(sent: bytes) -> object:
    """Each command looks for what is new first, and says when: that it says so is the same, the time is not."""
    answer = json.loads(sent or b"null")
    if isinstance(answer, dict) and "indexedThrough" in answer:
        answer["indexedThrough"] = bool(answer["indexedThrough"])
    return answer


@pytest.mark.requirement("CLI-48")
def test_what_a_pipe_cannot_hold_is_written_in_plain_letters(machine: Machine) -> None:
    listed = machine.pipe("session", "list", "descuentos", PYTHONIOENCODING="cp1252").stdout.decode("cp1252")
    assert "Añadir descuentos … ??? ? «ok» -> ya" in listed
    plain = machine.pipe("session", "list", "descuentos", PYTHONIOENCODING="ascii").stdout.decode("ascii")
    assert 'Anadir descuentos ... ??? ? "ok" -> ya' in plain


@pytest.mark.requirement("CLI-48")
def test_files_are_utf_8_whatever_the_locale(machine: Machine, tmp_path: Path) -> None:
    file = tmp_path / "sesión.md"
    strict = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "cp1252"}
    done = machine.pipe("session", "export", "own", "--output", str(file), **strict)
    assert done.returncode == 0, done.stderr
    assert "¿Qué tal? 日本語 🙂" in file.read_text(encoding="utf-8")
    found = machine.pipe("search", "--json", "¿Qué tal? 日本語", **strict)
    assert {x["id"] for x in json.loads(found.stdout)["sessions"]} >= {"own"}


@pytest.mark.requirement("CLI-49")
@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_bar_of_a_first_scan_goes_once_from_nothing_to_all(fixtures: Path, tmp_path: Path, columns: int) -> None:
    home = tmp_path / "home"
    home.mkdir()
    copy_homes(fixtures, home)
    first = Machine(home, tmp_path / "data").type("scan", columns=columns)
    shares = [int(x) for x in re.findall(r"(\d+)%", first.text)]
    assert shares == sorted(shares)
    assert (shares[-1], first.code) == (100, 0)
    assert "Claude Code" in first.text
    assert "\x1b[2K" in first.raw
    bars = [line for line in re.split(r"[\r\n]+", first.text) if "%" in line]
    assert {len(line.rstrip()) <= columns for line in bars} == {True}


@pytest.mark.requirement("CLI-49")
def test_a_pipe_gets_no_bar(fixtures: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    copy_homes(fixtures, tmp_path / "home", ("claude-code",))
    done = Machine(tmp_path / "home", tmp_path / "data").pipe("scan")
    assert done.stderr == b""
    assert b"\x1b" not in done.stdout
    assert b"%" not in done.stdout
