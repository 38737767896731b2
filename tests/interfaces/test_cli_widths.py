"""Tables and lists at every width of a terminal: nothing that is copied or read as one thing is broken."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.interfaces.cli_runs import copy_homes
from tests.interfaces.terminals import Machine

WIDE = "日本語のセッション 🙂 — ein langer Titel, der nicht in eine schmale Spalte passt"
LONG = "0672048c-85a4-44d2-bf35-35d7c84c207d"
COMMANDS = {
    "scan": ("scan",),
    "list": ("session", "list"),
    "stats": ("session", "stats", LONG),
    "lineage": ("session", "lineage", "ses_e039e2618ffegB4JLcjSi4HLQM"),
    "snapshots": ("session", "snapshots", "own"),
    "keys": ("key", "list"),
    "report": ("time", "report"),
    "sources": ("sources",),
    "search": ("search", "retry_delay", "--limit", "2"),
}
_WHOLE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|ses_\w{26}|\d+ [a-z]+s?\b")


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory, fixtures: Path) -> Machine:
    home = tmp_path_factory.mktemp("home")
    copy_homes(fixtures, home)
    made = Machine(home, tmp_path_factory.mktemp("data"))
    for command in (
        ("scan",),
        ("session", "create", WIDE, "--id", "own"),
        ("session", "append", "own", "retry_delay 日本語 🙂"),
        ("key", "create", "--name", "a rather long name of a client", "--scope", "history:read sessions:write"),
        ("time", "in", "claude-opus-4", "work"),
    ):
        assert made.pipe(*command).returncode == 0
    assert made.pipe("session", "save", "own", given=b'{"a": 1}').returncode == 0
    return made


@pytest.mark.requirement("CLI-52")
@pytest.mark.parametrize("columns", [60, 80, 100, 200])
@pytest.mark.parametrize("name", COMMANDS)
def test_no_line_is_wider_than_the_terminal_and_nothing_whole_is_broken(
    machine: Machine, name: str, columns: int
) -> None:
    shown = machine.type(*COMMANDS[name], columns=columns, TZ="UTC")
    assert shown.code == 0
    # What a person types or copies goes on where the terminal breaks it: it is one word there.
    lines = [x for x in shown.lines if "--cursor" not in x and "--around" not in x and "session:" not in x]
    assert [line for line in lines if cell_len(line.rstrip()) > columns] == []
    assert not [
        line for line in lines if re.search(r"\d{4}-\d\d-\d?$|\d{4}-\d\d-\d\d$", line.rstrip()) and name != "report"
    ]
    in_pipe = set(_WHOLE.findall(machine.pipe(*COMMANDS[name], TZ="UTC").stdout.decode()))
    broken = [x for x in in_pipe if not x[0].isdigit() or "-" in x if x[:9] in shown.text and x not in shown.text]
    assert broken == []


@pytest.mark.requirement("CLI-52")
def test_every_listed_id_can_be_copied_at_any_width(machine: Machine) -> None:
    ids = {x["id"] for x in json.loads(machine.pipe("session", "list", "--json").stdout)["sessions"]}
    for columns in (40, 60, 80, 120):
        shown = machine.type("session", "list", columns=columns).text
        assert {x for x in ids if x in shown} == ids


@pytest.mark.requirement("CLI-52")
def test_columns_stand_below_each_other_beside_wide_letters(machine: Machine) -> None:
    rows = [line for line in machine.type("session", "list", columns=140).lines if "│" not in line and line.strip()]
    head = next(line for line in rows if "client" in line)
    at = cell_len(head[: head.index("client")])
    row = next(line for line in rows if "日本語" in line)
    assert cell_len(row[: row.index("ovillo")]) == at


@pytest.mark.requirement("CLI-52")
def test_in_a_pipe_nothing_is_cut_and_each_session_is_one_line(machine: Machine) -> None:
    lines = machine.pipe("session", "list", "日本語").stdout.decode().splitlines()
    assert [WIDE in line and line.endswith("own") for line in lines] == [False, True]
