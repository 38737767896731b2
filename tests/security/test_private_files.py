"""Files that commands write: for their owner alone, never through a link that somebody planted."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.interfaces.cli_runs import CommandLine, copy_homes
from tests.interfaces.served import serving

SESSION = "ses_e039eb5beffezkVWBKzYmMBVNq"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no modes and asks for rights to make links")


@pytest.fixture
def open_umask() -> Iterator[None]:
    """The process would let everybody read and write what it makes."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def cli(tmp_path: Path, fixtures: Path, capsys: pytest.CaptureFixture[str], open_umask: None) -> CommandLine:
    home = tmp_path / "home"
    copy_homes(fixtures, home, ("opencode-sqlite",))
    cli = CommandLine(capsys, home, tmp_path / "data")
    assert cli.run("scan").code == 0
    source = tmp_path / "project" / "shop.py"
    source.parent.mkdir()
    source.write_text("import os\n\ndef total():\n    return os.sep\n")
    (source.parent / "guide.md").write_text("# Guide\n\nTotals are made by the function total, once a day.\n")
    return cli


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def _session_export(cli: CommandLine, path: Path) -> None:
    assert cli.run("session", "export", SESSION, "--output", str(path)).code == 0


def _session_restore(cli: CommandLine, path: Path) -> None:
    state = path.with_name("state-to-save")
    state.write_text('{"a": 1}')
    assert cli.run("session", "save", SESSION, str(state)).code == 0
    state.unlink()
    assert cli.run("session", "restore", SESSION, "--output", str(path)).code == 0


def _code_export(cli: CommandLine, path: Path) -> None:
    project = path.parents[1] / "project"
    assert cli.run("code", "index", str(project)).code == 0
    assert cli.run("code", "export", "--root", str(project), "--output", str(path.parent)).code == 0


def _code_graph(cli: CommandLine, path: Path) -> None:
    project = path.parents[1] / "project"
    assert cli.run("code", "index", str(project)).code == 0
    assert cli.run("code", "graph", "--svg", "--root", str(project), "--output", str(path)).code == 0


WRITERS: dict[str, Callable[[CommandLine, Path], None]] = {
    "session.json": _session_export,
    "session.pdf": _session_export,
    "state.json": _session_restore,
    "function_map.json": _code_export,
    "module_graph.json": _code_export,
    "graph.svg": _code_graph,
}


@pytest.mark.requirement("SEC-20")
@pytest.mark.parametrize("name", WRITERS)
def test_what_a_command_was_asked_to_write_is_for_its_owner_alone(cli: CommandLine, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    WRITERS[name](cli, folder / name)
    assert (folder / name).stat().st_size
    assert _mode(folder / name) == 0o600
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.requirement("SEC-20")
@pytest.mark.parametrize("name", WRITERS)
def test_no_command_writes_through_a_link_that_was_planted_beside_its_file(
    cli: CommandLine, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    victim = tmp_path / "victim"
    victim.write_text("mine")
    for planted in (f".{name}.part", f".{name}.{os.getpid()}"):
        (folder / planted).symlink_to(victim)
    WRITERS[name](cli, folder / name)
    assert victim.read_text() == "mine"
    assert not (folder / name).is_symlink()


@pytest.mark.requirement("SEC-20")
@pytest.mark.parametrize("name", ["function_map.json", "module_graph.json", "graph.svg"])
def test_a_file_written_anew_takes_the_place_of_a_link_and_leaves_what_it_led_to(
    cli: CommandLine, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (folder / name).symlink_to(victim)
    WRITERS[name](cli, folder / name)
    assert victim.read_text() == "mine"
    assert not (folder / name).is_symlink()


@pytest.mark.requirement("SEC-20")
def test_an_export_is_not_written_where_a_link_stands_unless_forced(cli: CommandLine, tmp_path: Path) -> None:
    dangling, target = tmp_path / "export.json", tmp_path / "not-there-yet"
    dangling.symlink_to(target)
    refused = cli.run("session", "export", SESSION, "--output", str(dangling))
    assert refused.code == 6
    assert "exists already" in refused.err
    assert not target.exists()
    assert cli.run("session", "export", SESSION, "--force", "--output", str(dangling)).code == 0
    assert not target.exists()
    assert json.loads(dangling.read_text())


@pytest.mark.requirement("SEC-20")
def test_an_export_does_not_take_the_place_of_a_device_or_a_pipe(cli: CommandLine, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    refused = cli.run("session", "export", SESSION, "--force", "--output", str(pipe))
    assert refused.code == 2
    assert "no regular file" in refused.err
    assert stat.S_ISFIFO(pipe.lstat().st_mode)


@pytest.mark.requirement("SEC-20")
def test_vectors_are_written_for_their_owner_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], open_umask: None
) -> None:
    cli = CommandLine(capsys, tmp_path, tmp_path / "data", {"OVILLO_EMBEDDER": "minilm"})
    guide = tmp_path / "guide.md"
    guide.write_text("# Guide\n\nTotals are made by the function total, once a day, before breakfast.\n")
    assert cli.run("knowledge", "add", str(guide)).code == 0
    out = tmp_path / "new" / "vectors.mp4"
    assert cli.run("knowledge", "export-mp4", str(out)).code == 0
    assert (_mode(out), _mode(out.parent)) == (0o600, 0o700)


@pytest.mark.requirement("SEC-21")
def test_a_new_data_folder_is_closed_to_others_while_a_server_runs_in_it(tmp_path: Path, open_umask: None) -> None:
    with serving(tmp_path) as server:
        server.append(server.session("mine"), "hello", "k1")
        server.ask("GET", "/api/search?query=hello")
        data = tmp_path / "data"
        modes = {path: oct(_mode(path)) for path in data.rglob("*")}
        assert {"ovillo.db", "ovillo.db-wal", "ovillo.db-shm", "token"} <= {path.name for path in modes}
        assert {path: mode for path, mode in modes.items() if mode != ("0o700" if path.is_dir() else "0o600")} == {}
        assert _mode(data) == 0o700


#: Opens a new store and looks at every file that is there whenever SQLite runs a statement of the first migration.
_LOOKING = """
import os, sys
from pathlib import Path
data = Path(sys.argv[1])
os.umask(0)
seen = set()
def look(event, arguments):
    if event == "open" and str(arguments[0]).endswith(".sql"):
        seen.update((path.name, path.stat().st_mode & 0o777) for path in data.iterdir())
sys.addaudithook(look)
from ovillo.search.analysis import TextAnalyzer
from ovillo.store.engine import open_store
open_store(data / "ovillo.db", TextAnalyzer()).close()
print(sorted(seen))
"""


@pytest.mark.requirement("SEC-21")
def test_a_new_database_is_closed_to_others_before_anything_is_in_it(tmp_path: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-c", _LOOKING, str(tmp_path / "data")], capture_output=True, text=True, check=True
    ).stdout
    assert "ovillo.db-wal" in said
    assert said.strip() == str([("ovillo.db", 0o600), ("ovillo.db-shm", 0o600), ("ovillo.db-wal", 0o600)])


@pytest.mark.requirement("SEC-21")
def test_a_database_that_others_could_read_is_closed_when_it_is_opened(cli: CommandLine) -> None:
    for path in cli.data_dir.iterdir():
        path.chmod(0o644)
    assert cli.run("session", "list").code == 0
    with suppress(FileNotFoundError):
        assert _mode(cli.data_dir / "ovillo.db-wal") == 0o600
    assert _mode(cli.data_dir / "ovillo.db") == 0o600


@pytest.mark.requirement("SEC-21")
def test_locks_keys_and_notes_of_questions_are_closed_to_others(cli: CommandLine, tmp_path: Path) -> None:
    assert cli.run("code", "index", str(tmp_path / "project")).code == 0
    assert cli.run("knowledge", "add", str(tmp_path / "project" / "guide.md")).code == 0
    assert cli.run("knowledge", "search", "totals").code == 0
    modes = {path.name: oct(_mode(path)) for path in cli.data_dir.rglob("*") if path.is_file()}
    assert {name: mode for name, mode in modes.items() if mode != "0o600"} == {}
    assert [name for name in modes if name.endswith(".lock")]
