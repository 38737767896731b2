"""Foreign SQLite: a client's database is read while the client writes, and no byte of its folder changes."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ovillo.model.records import Inventory, SkippedRecord
from ovillo.readers import foreign_sqlite
from ovillo.readers.crush import CrushReader
from ovillo.readers.goose import GooseReader
from ovillo.readers.opencode import OpenCodeReader
from ovillo.readers.protocol import Progress, Reader, Source
from tests.readers.conftest import GOLDEN
from tests.readers.harvest import Harvest, harvest

#: Runs SQL from its input, one statement a line, and says when each is done.
_CLIENT = """
import os, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
for line in sys.stdin:
    if line.strip() == "die":
        os._exit(1)
    database.execute(line)
    print("done", flush=True)
"""
_CASES = {
    "crush": (CrushReader(), "crush/project", "UPDATE sessions SET todos = random()"),
    "goose": (GooseReader(), "goose/both-stores", "DELETE FROM messages WHERE content_json NOT LIKE '[%'"),
}


class Client:
    """A program that holds a database open in WAL mode, and writes when it is told to."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CLIENT, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.run("PRAGMA journal_mode = WAL")

    def run(self, sql: str) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(sql + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n"

    def die(self) -> None:
        """End without tidying up, as a killed program does."""
        self._process.communicate("die\n")

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.communicate("")
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


@pytest.fixture(params=sorted(_CASES))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Reader, Source, str]:
    """A reader, a database it reads, and a statement that writes to it without changing what is read."""
    reader, case, touch = _CASES[request.param]
    (script,) = (GOLDEN / case).rglob("*.sql")
    path = tmp_path / "client" / script.stem
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as database:
        database.executescript(script.read_text(encoding="utf-8"))
    return reader, Source(reader.name, path, "sqlite"), touch


@pytest.fixture
def client(store: tuple[Reader, Source, str]) -> Iterator[Client]:
    running = Client(store[1].path)
    yield running
    running.close()


def state(folder: Path) -> dict[str, tuple[bytes, int, int, int]]:
    """Bytes, time, inode and mode of every file."""
    found = {}
    for path in sorted(folder.iterdir()):
        facts = path.stat()
        found[path.name] = (path.read_bytes(), facts.st_mtime_ns, facts.st_ino, facts.st_mode)
    return found


def words(found: Harvest) -> list[str]:
    return [part.text for _, one in sorted(found.sessions.items()) for part in one.parts]


@pytest.mark.requirement("READ-156")
def test_reading_beside_a_client_that_writes_changes_no_byte(store: tuple[Reader, Source, str], client: Client) -> None:
    reader, source, touch = store
    expected = None
    write = "PRAGMA user_version = {}"
    for n, sql in enumerate(
        (touch, write, "PRAGMA wal_checkpoint(PASSIVE)", write, "PRAGMA wal_checkpoint(TRUNCATE)", write)
    ):
        client.run(sql.format(n))
        before = state(source.path.parent)
        assert set(before) == {source.path.name + end for end in ("", "-wal", "-shm")}
        found = words(harvest(reader, source))
        assert state(source.path.parent) == before, sql
        expected = expected or found
        assert found == expected != []


@pytest.mark.requirement("READ-156")
def test_what_a_killed_client_left_in_its_log_is_read_and_no_byte_changes(
    store: tuple[Reader, Source, str], client: Client
) -> None:
    reader, source, _ = store
    client.run("UPDATE sessions SET id = id || 'x'")
    client.die()
    for lost in ("", "-shm"):
        if lost:
            source.path.with_name(source.path.name + lost).unlink()
        before = state(source.path.parent)
        found = harvest(reader, source)
        assert found.sessions
        assert all(session.endswith("x") for session in found.sessions)
        assert state(source.path.parent) == before


@pytest.mark.requirement("READ-156")
def test_a_closed_database_is_read_where_it_stands_whatever_its_size(
    store: tuple[Reader, Source, str], client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, source, touch = store
    client.run(touch)
    client.close()
    before = state(source.path.parent)
    assert set(before) == {source.path.name}
    monkeypatch.setattr(foreign_sqlite, "_MAX_COPY_BYTES", 0)
    assert words(harvest(reader, source))
    source.path.with_name(source.path.name + "-wal").touch()
    assert words(harvest(reader, source))
    source.path.with_name(source.path.name + "-wal").unlink()
    assert state(source.path.parent) == before


@pytest.mark.requirement("READ-156")
def test_a_copy_that_would_fill_the_disk_is_not_made(
    store: tuple[Reader, Source, str], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, source, touch = store
    client.run(touch)
    client.die()
    source.path.with_name(source.path.name + "-shm").unlink()
    usage = shutil.disk_usage(source.path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage._replace(free=source.path.stat().st_size))
    (damage,) = harvest(reader, source).skipped
    assert "room" in damage.reason


@pytest.mark.requirement("READ-156")
def test_a_database_nobody_wrote_to_is_not_opened_again(
    store: tuple[Reader, Source, str], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, source, touch = store
    client.run(touch)
    for path in source.path.parent.iterdir():
        os.utime(path, (1_795_284_300, 1_795_284_300))
    found = harvest(reader, source)
    with monkeypatch.context() as patched:
        patched.setattr("ovillo.readers.session_rows.opened", _never)
        again = list(reader.scan(source, json.loads(json.dumps(found.cursor))))
    assert again == [Progress(0), Inventory(found.inventory or frozenset())]
    client.run("UPDATE sessions SET updated_at = updated_at + 1")
    assert harvest(reader, source, found.cursor).sessions


def _never(*_args: object, **_more: object) -> None:
    raise AssertionError("the database was opened")


@pytest.mark.requirement("READ-156")
def test_opencode_is_read_beside_its_client_without_a_changed_byte(fixtures: Path, tmp_path: Path) -> None:
    shutil.copytree(fixtures / "opencode-sqlite/home", tmp_path / "home")
    reader = OpenCodeReader()
    (place,) = [x for x in reader.discover({}, tmp_path / "home") if x.path.suffix == ".db"]
    client = Client(place.path)
    try:
        for _ in range(2):
            client.run("UPDATE message SET time_updated = time_updated + 1")
            before = state_of_files(place.path)
            found = harvest(reader, place)
            assert found.sessions
            assert not [x for x in found.skipped if isinstance(x, SkippedRecord)]
            assert state_of_files(place.path) == before
    finally:
        client.close()


def state_of_files(path: Path) -> dict[str, tuple[bytes, int, int, int]]:
    return {
        x.name: (x.read_bytes(), x.stat().st_mtime_ns, x.stat().st_ino, x.stat().st_mode)
        for x in sorted(path.parent.glob(path.name + "*"))
    }
