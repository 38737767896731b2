"""Commands read what agents wrote since the last scan before they answer, or say that they did not."""

from __future__ import annotations

from pathlib import Path

import pytest

from ovillo.app import open_services
from ovillo.ingest.service import REFRESH_BYTES, WATCHING
from ovillo.settings import Settings
from tests.ingest.test_apart import put, said
from tests.interfaces.cli_runs import CommandLine


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    line = CommandLine(capsys, tmp_path / "home", tmp_path / "data")
    put(line.home, "shop", said("1", "the quetzal was seen", 1))
    assert line.run("scan").code == 0
    return line


@pytest.mark.requirement("CLI-60")
@pytest.mark.parametrize(
    "asked",
    [
        ("search", "heron"),
        ("session", "list"),
        ("context", "--scope", "everywhere", "where was the heron seen?"),
        ("search", "heron", "--json"),
    ],
)
def test_what_was_written_since_the_last_scan_is_found(cli: CommandLine, asked: tuple[str, ...]) -> None:
    put(cli.home, "pond", said("2", "the heron was seen at the pond", 2))
    ran = cli.run(*asked)
    assert ran.code == 0
    assert "heron" in ran.out.partition("\n")[2] or "heron was seen" in ran.out


@pytest.mark.requirement("CLI-60")
def test_more_than_can_be_waited_for_is_left_and_said(cli: CommandLine) -> None:
    put(cli.home, "pond", said("2", "the heron was seen at the pond " + "x" * REFRESH_BYTES, 2))
    ran = cli.run("search", "heron")
    assert "Nothing found" in ran.out
    assert "MB of histories: run 'ovillo scan'" in ran.out
    assert cli.run("search", "heron", "--json").json()["notIndexedYet"]
    cli.run("scan")
    assert "the heron was seen" in cli.run("search", "heron").out


@pytest.mark.requirement("CLI-60")
def test_a_process_that_watches_is_relied_on(cli: CommandLine) -> None:
    services = open_services(Settings(cli.data_dir, cli.home, environment={"HOME": str(cli.home)}, embedder="none"))
    with services.store.leases.hold(WATCHING):
        put(cli.home, "pond", said("2", "the heron was seen at the pond", 2))
        assert "Nothing found" in cli.run("search", "heron").out
    services.close()
    assert "the heron was seen" in cli.run("search", "heron").out


@pytest.mark.requirement("CLI-60")
def test_nothing_is_read_that_nobody_asked_to_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli = CommandLine(capsys, tmp_path / "home", tmp_path / "data")
    put(cli.home, "pond", said("2", "the heron was seen at the pond", 2))
    ran = cli.run("search", "heron")
    assert "nothing has been scanned yet: run 'ovillo scan'" in ran.out
    watching = CommandLine(capsys, tmp_path / "home", tmp_path / "data", {"OVILLO_WATCH": "false"})
    watching.run("scan")
    put(cli.home, "sea", said("3", "the pelican was seen", 3))
    assert "Nothing found" in watching.run("search", "pelican").out
