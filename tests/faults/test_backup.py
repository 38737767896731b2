"""Backups made while a server is written to, and put back, by real commands."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.interfaces.served import environment, serving

SECRET = "it's a pass&word?=# with ä"


def run(home: Path, *arguments: str, secret: str | None = None, limit: int | None = None) -> tuple[int, str]:
    def shrink() -> None:
        if limit is not None:
            import resource

            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    given = environment(home) | ({"OVILLO_BACKUP_PASSPHRASE": secret} if secret is not None else {})
    done = subprocess.run(
        [sys.executable, "-m", "ovillo", *arguments],
        check=False,
        env=given,
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        preexec_fn=shrink,
    )
    return done.returncode, done.stdout + done.stderr


def ok(home: Path, *arguments: str, secret: str | None = None) -> str:
    code, told = run(home, *arguments, secret=secret)
    assert code == 0, told
    return told


def recorded(home: Path, count: int = 20) -> Path:
    home.mkdir(exist_ok=True)
    ok(home, "session", "create", "mine", "--id", "mine")
    ok(home, "session", "append", "mine", "where is the zorvath ledger")
    return home


def texts(home: Path) -> str:
    return ok(home, "session", "show", "mine")


@pytest.mark.requirement("BACKUP-1")
def test_a_backup_into_a_folder_that_is_not_there_names_the_folder(tmp_path: Path) -> None:
    home = recorded(tmp_path / "home")
    code, told = run(home, "backup", str(tmp_path / "nowhere" / "kept.db"))
    assert code == 2, told
    assert f"There is no folder {tmp_path / 'nowhere'}" in told


@pytest.mark.requirement("BACKUP-1")
def test_a_backup_made_while_a_server_is_written_to_holds_all_that_was_acknowledged(tmp_path: Path) -> None:
    home, other = tmp_path / "here", tmp_path / "there"
    home.mkdir()
    other.mkdir()
    with serving(home) as server:
        server.session("mine")
        acknowledged: list[int] = []
        stop, enough = threading.Event(), threading.Event()

        def write() -> None:
            number = 0
            while not stop.is_set():
                server.append("mine", f"message {number}", f"k{number}")
                acknowledged.append(number)
                number += 1
                if number == 200:
                    enough.set()

        writer = threading.Thread(target=write)
        writer.start()
        try:
            assert enough.wait(60)
            before = len(acknowledged)
            told = json.loads(ok(home, "backup", str(tmp_path / "all.db"), "--json"))
            after = len(acknowledged)
        finally:
            stop.set()
            writer.join()
    assert after > before, "the server stood still meanwhile"
    assert told["counts"]["messages"] >= before
    ok(other, "restore", str(tmp_path / "all.db"), "--yes")
    with serving(other) as server:
        held: list[Any] = []
        cursor = ""
        while True:
            _, page = server.ask("GET", f"/api/sessions/mine/messages?limit=200{cursor}")
            held += page["messages"]
            if not page.get("nextCursor"):
                break
            cursor = f"&cursor={page['nextCursor']}"
    said = [x["content"] if "content" in x else x["parts"][0]["text"] for x in held]
    assert said == [f"message {n}" for n in range(told["counts"]["messages"])]


@pytest.mark.requirement("BACKUP-2")
def test_an_encrypted_backup_opens_elsewhere_with_its_passphrase_alone(tmp_path: Path) -> None:
    home, other = recorded(tmp_path / "here"), tmp_path / "there"
    other.mkdir()
    target = tmp_path / "secret.db"
    assert "encrypted" in ok(home, "backup", str(target), "--encrypt", secret=SECRET)
    assert b"zorvath" not in target.read_bytes()
    assert not target.read_bytes().startswith(b"SQLite format 3")
    code, told = run(other, "restore", str(target), "--yes", secret="wrong")
    assert (code, "does not open with this passphrase" in told) == (7, True)
    assert not (other / "data" / "ovillo.db").exists()
    code, told = run(other, "restore", str(target), "--yes")
    assert (code, "--passphrase-file" in told) == (2, True)
    (tmp_path / "word").write_text(SECRET + "\nsecond line\n")
    ok(other, "restore", str(target), "--yes", "--passphrase-file", str(tmp_path / "word"))
    assert "zorvath" in texts(other)
    assert "zorvath" in ok(other, "search", "zorvath")
    # As any other database of ours: its pages have our size and keep no room for a cipher.
    head = (other / "data" / "ovillo.db").read_bytes()[:32]
    assert (int.from_bytes(head[16:18], "big"), head[20]) == (8_192, 0)


@pytest.mark.requirement("BACKUP-2")
def test_sqlcipher_with_its_own_settings_opens_an_encrypted_backup(tmp_path: Path) -> None:
    target = tmp_path / "secret.db"
    ok(recorded(tmp_path / "here"), "backup", str(target), "--encrypt", secret=SECRET)
    said = SECRET.replace("'", "''")
    try:
        from sqlcipher3 import dbapi2
    except ImportError:
        foreign: Any = apsw.Connection(str(target))
        foreign.execute("PRAGMA cipher = 'sqlcipher'")
        foreign.execute("PRAGMA legacy = 4")
    else:
        foreign = dbapi2.connect(str(target))
    foreign.execute(f"PRAGMA key = '{said}'")
    assert foreign.execute("SELECT id FROM sessions").fetchall() == [("mine",)]
    foreign.close()


@pytest.mark.requirement("BACKUP-3")
def test_a_backup_that_is_no_good_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    home = recorded(tmp_path / "here")
    target = tmp_path / "all.db"
    ok(home, "backup", str(target))
    whole = target.read_bytes()
    (tmp_path / "cut.db").write_bytes(whole[: len(whole) // 2])
    middle = len(whole) // 2
    (tmp_path / "hurt.db").write_bytes(whole[:middle] + os.urandom(20_000) + whole[middle + 20_000 :])
    (tmp_path / "short.db").write_bytes(b"SQL")
    apsw.Connection(str(tmp_path / "foreign.db")).execute("CREATE TABLE t (x)")
    for name, wanted in (("cut", 11), ("hurt", 11), ("short", 2), ("foreign", 2), ("none", 4)):
        code, told = run(home, "restore", str(tmp_path / f"{name}.db"), "--yes")
        assert (name, code) == (name, wanted), told
        assert "This is a bug" not in told
    assert "zorvath" in texts(home)
    assert list((home / "data").glob("before-restore*")) == []
    assert list((home / "data").glob("*-restored*")) == []


@pytest.mark.requirement("BACKUP-4")
def test_a_restore_keeps_what_stood_there_and_waits_for_no_server(tmp_path: Path) -> None:
    home, target = recorded(tmp_path / "here"), tmp_path / "all.db"
    ok(home, "backup", str(target))
    ok(home, "session", "append", "mine", "said after the backup")
    with serving(home):
        code, told = run(home, "restore", str(target), "--yes")
        assert (code, "server" in told) == (6, True)
    code, told = run(home, "restore", str(target))
    assert (code, "--yes" in told) == (2, True)
    told = ok(home, "restore", str(target), "--yes")
    assert "1 sessions, 1 messages" in told
    assert "said after" not in texts(home)
    (kept,) = (home / "data").glob("before-restore-*")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    assert "ovillo.db" in {path.name for path in kept.iterdir()}


@pytest.mark.requirement("BACKUP-4")
def test_a_damaged_database_gives_way_to_a_backup(tmp_path: Path) -> None:
    home, target = recorded(tmp_path / "here"), tmp_path / "all.db"
    ok(home, "backup", str(target))
    database = home / "data" / "ovillo.db"
    database.write_bytes(os.urandom(50_000))
    assert run(home, "backup", str(tmp_path / "other.db"))[0] == 11
    assert not (tmp_path / "other.db").exists()
    ok(home, "restore", str(target), "--yes")
    assert "zorvath" in texts(home)


@pytest.mark.requirement("BACKUP-5")
def test_a_backup_is_whole_or_not_there_and_for_its_owner_alone(tmp_path: Path) -> None:
    home, target = recorded(tmp_path / "here"), tmp_path / "out" / "all.db"
    target.parent.mkdir()
    code, told = run(home, "backup", str(target), limit=100_000)
    assert (code, "cannot be written" in told) == (9, True), told
    assert list(target.parent.iterdir()) == []
    ok(home, "backup", str(target))
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    code, told = run(home, "backup", str(target))
    assert (code, "--replace" in told) == (6, True)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    target.unlink()
    target.symlink_to(victim)
    assert run(home, "backup", str(target))[0] == 6
    ok(home, "backup", str(target), "--replace")
    assert (victim.read_text(), target.is_symlink()) == ("mine", False)
