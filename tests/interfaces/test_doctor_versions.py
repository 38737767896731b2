"""``ovillo doctor`` about versions: how this ovillo was installed, and databases that another one wrote."""

from __future__ import annotations

import gzip
import re
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ovillo import __version__
from ovillo.model.installation import IMAGE_MARK, installation
from tests.interfaces.cli_runs import CommandLine

ROOT = Path(__file__).parents[2]


@pytest.fixture
def line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    (tmp_path / "home").mkdir()
    return CommandLine(capsys, tmp_path / "home", tmp_path / "data")


def checks(line: CommandLine) -> dict[str, Any]:
    return {check["name"]: check for check in line.run("doctor", "--json").json()["checks"]}


def alter(database: Path, *statements: str) -> None:
    with closing(sqlite3.connect(database)) as db, db:
        for statement in statements:
            db.execute(statement)


@pytest.mark.requirement("PACK-5")
def test_a_database_of_a_newer_ovillo_names_the_one_that_is_needed_and_how_to_get_it(line: CommandLine) -> None:
    assert line.run("scan").code == 0
    database = line.data_dir / "ovillo.db"
    alter(database, "UPDATE meta SET value = '9.8.7' WHERE key = 'ovillo'", "PRAGMA user_version = 999")
    found = checks(line)
    assert found["database"]["status"] == "fail"
    assert "written by ovillo 9.8.7 (schema 999)" in found["database"]["detail"]
    assert found["database"]["hint"] == f"It needs 9.8.7: {installation().upgrade}"
    assert "histories" not in found
    said = line.run("search", "anything").err
    assert "a newer ovillo 9.8.7 (schema 999" in said
    assert installation().upgrade in said
    with closing(sqlite3.connect(database)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (999,)


@pytest.mark.requirement("PACK-5")
def test_a_newer_database_that_says_not_by_whom_it_was_written_is_named_all_the_same(line: CommandLine) -> None:
    line.data_dir.mkdir()
    alter(line.data_dir / "ovillo.db", "PRAGMA user_version = 999")
    found = checks(line)["database"]
    assert (found["status"], "written by a newer ovillo (schema 999)" in found["detail"]) == ("fail", True)
    assert found["hint"].startswith("It needs a newer ovillo: ")


@pytest.mark.requirement("PACK-5")
def test_an_older_database_is_said_and_is_not_changed_by_looking(line: CommandLine, fixtures: Path) -> None:
    line.data_dir.mkdir(mode=0o700)
    database = line.data_dir / "ovillo.db"
    database.write_bytes(gzip.decompress((fixtures / "databases" / "0011.db.gz").read_bytes()))
    before = database.read_bytes()
    found = checks(line)
    assert (found["database"]["status"], "schema 11" in found["database"]["detail"]) == ("warn", True)
    assert "brings it to this one" in found["database"]["hint"]
    assert (database.read_bytes(), line.run("doctor").code) == (before, 0)
    assert line.run("scan").code == 0
    assert checks(line)["database"]["status"] == "ok"
    with closing(sqlite3.connect(database)) as db:
        assert db.execute("SELECT value FROM meta WHERE key = 'ovillo'").fetchone() == (__version__,)


@pytest.mark.requirement("PACK-6")
@pytest.mark.parametrize(
    ("mark", "upgrade", "extra"),
    [
        ("pipx_metadata.json", "pipx upgrade ovillo", "pipx install --force 'ovillo[pdf]'"),
        ("uv-receipt.toml", "uv tool upgrade ovillo", "uv tool install 'ovillo[pdf]'"),
        (IMAGE_MARK, "docker compose build --pull", "pip install 'ovillo[pdf]'"),
    ],
)
def test_what_upgrades_it_is_the_package_manager_that_installed_it(
    mark: str, upgrade: str, extra: str, tmp_path: Path
) -> None:
    (tmp_path / mark).touch()
    found = installation(str(tmp_path))
    assert (found.upgrade, found.with_extras(["pdf"])) == (upgrade, extra)


@pytest.mark.requirement("PACK-6")
@pytest.mark.parametrize(
    ("prefix", "called"),
    [
        ("/home/ana/.cache/uv/archive-v0/Xyz", ("uvx",)),
        ("/home/ana/.local/share/pipx/.cache/e3b0c442", ("pipx", "run")),
        ("/home/ana/.cache/pipx/e3b0c442", ("pipx", "run")),
        ("/srv/venv", ()),
    ],
)
def test_what_lies_in_a_cache_is_called_again_by_what_put_it_there(prefix: str, called: tuple[str, ...]) -> None:
    assert installation(prefix).called == called


@pytest.mark.requirement("PACK-6")
def test_doctor_says_how_it_was_installed_and_what_upgrades_it(line: CommandLine) -> None:
    found = checks(line)["installation"]
    assert (found["detail"], found["hint"]) == (
        f"ovillo {__version__}, {installation().how}",
        f"To upgrade: {installation().upgrade}",
    )


@pytest.mark.requirement("PACK-7")
def test_the_version_stands_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/ovillo/__init__.py"
    quoted = re.compile(rf"[\"']{re.escape(__version__)}[\"']")
    places = [
        ROOT / "Makefile",
        ROOT / "pyproject.toml",
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / "scripts").glob("*.py"),
    ]
    assert [path.name for path in places if quoted.search(path.read_text(encoding="utf-8"))] == ["__init__.py"]


def test_doctor_tells_of_the_server_that_starts_at_login(line: CommandLine, tmp_path: Path) -> None:
    assert "ovillo service install" in checks(line)["server at login"]["detail"]
    ctl = tmp_path / "bin" / "systemctl"
    ctl.parent.mkdir()
    ctl.write_text("#!/bin/sh\n")
    ctl.chmod(0o755)
    line.environment = {"PATH": str(ctl.parent)}
    assert line.run("service", "install", "--yes").code == 0
    found = checks(line)["server at login"]
    assert (found["status"], "no server runs" in found["detail"]) == ("warn", True)
    (line.home / ".config/systemd/user/ovillo.service").unlink()
    assert "is gone, changed or out of date" in checks(line)["server at login"]["detail"]
