"""A damaged database: the doctor names what is hit and saves what was recorded here. The damage is real: pages are
overwritten, the file is cut off or emptied, the log is damaged."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from ovillo.app import open_services
from ovillo.search.analysis import TextAnalyzer
from ovillo.settings import Settings
from ovillo.store.embedded import repair
from ovillo.store.sqlite.connection import open_writer
from tests.faults.test_exhausted import history
from tests.faults.test_store_faults import append, stored
from tests.interfaces.http.serving import process

PAGE = 8192
#: Recorded here: what nobody can bring back.
RECORDED = (
    "sessions",
    "messages",
    "parts",
    "snapshots",
    "links",
    "context_entries",
    "tasks",
    "access_keys",
    "idempotency",
)
#: Counts and marks that a repair, or indexing again, writes anew.
_WRITTEN_ANEW = {"sessions": {"message_count", "part_count"}, "parts": {"flags", "length"}}


def ovillo(home: Path, *words: str, answer: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ovillo", *words],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "OVILLO_DATA_DIR": str(home / "data"),
            "OVILLO_EMBEDDER": "none",
        },
        input=answer,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder with recorded sessions, a mirrored history, snapshots, links, contexts, tasks and keys."""
    home = tmp_path_factory.mktemp("home")
    history(home, 150)
    assert ovillo(home, "scan").returncode == 0
    with process(home) as (server, site):
        for session in range(6):
            site.ask("POST", "/api/sessions", {"id": f"n{session}", "name": f"session {session}"})
            for number in range(70):
                append(site, f"k{number}", f"{session} {number} buffer {os.urandom(300).hex()}", session=f"n{session}")
            assert site.ask("POST", f"/api/sessions/n{session}/snapshots", {"content": {"state": session}}).status < 300
        server.terminate()
        server.wait(20)
    assert ovillo(home, "session", "link", "n1", "n2", "--relationship", "continues").returncode == 0
    assert ovillo(home, "key", "create", "--name", "mine").returncode == 0
    return home


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with a little of everything, for many repairs; its client's files stand where they stood."""
    home = tmp_path_factory.mktemp("small")
    history(home, 4)
    assert ovillo(home, "scan").returncode == 0
    for words in (
        ("session", "create", "one", "--id", "n1"),
        ("session", "create", "two", "--id", "n2"),
        *(("session", "append", f"n{1 + number % 2}", f"said {number}", "--key", f"k{number}") for number in range(6)),
        ("session", "link", "n1", "n2"),
        ("session", "summarize", "n1"),
        ("time", "in", "claude", "work", "--session", "n1"),
        ("key", "create", "--name", "mine"),
        ("memory", "remember", "We release on Tuesdays."),
        ("session", "create", "three", "--id", "n3"),
        ("session", "delete", "n3", "--yes"),
    ):
        assert ovillo(home, *words).returncode == 0, words
    saved = subprocess.run(
        [sys.executable, "-m", "ovillo", "session", "save", "n1"],
        env={"PATH": os.environ["PATH"], "HOME": str(home), "OVILLO_DATA_DIR": str(home / "data")},
        input='{"state": 1}',
        text=True,
        check=False,
        capture_output=True,
    )
    assert saved.returncode == 0, saved.stderr
    return home


@pytest.fixture
def home(recorded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(recorded, tmp_path / "home"))


def rows(database: Path) -> dict[str, set[tuple[Any, ...]]]:
    db = apsw.Connection(str(database))
    found = {}
    for table in RECORDED:
        left_out = _WRITTEN_ANEW.get(table, set())
        names = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1] not in left_out]
        found[table] = set(db.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall())
    db.close()
    return found


def overwrite(database: Path, pages: list[int], seed: int) -> None:
    """4 kB of noise at the beginning or in the middle of each page."""
    noise = random.Random(seed)
    data = bytearray(database.read_bytes())
    for page in pages:
        start = (page - 1) * PAGE + noise.choice([0, 4096])
        data[start : start + 4096] = noise.randbytes(4096)
    database.write_bytes(data)


@pytest.mark.requirement("FAULT-10")
@pytest.mark.parametrize("seed", range(8))
def test_what_was_recorded_is_saved_except_what_stood_on_damaged_pages(home: Path, seed: int) -> None:
    database = home / "data" / "ovillo.db"
    before = rows(database)
    count = database.stat().st_size // PAGE
    chosen = random.Random(seed).sample(range(1, count + 1), 8)
    overwrite(database, chosen, seed)
    damaged = database.read_bytes()
    done = repair(database, TextAnalyzer())
    after = rows(database)
    assert (done.kept_at / "ovillo.db").read_bytes() == damaged
    assert apsw.Connection(str(database)).pragma("integrity_check") == "ok"
    for table in RECORDED:
        made = done.recovered_messages if table == "messages" else 0
        made += done.recovered_sessions if table == "sessions" else 0
        # Nothing is invented, and a page holds no more rows than fit on it.
        assert len(after[table] - before[table]) <= made, table
        # Noise in the middle of a page of small rows may cost all of it; 8 kB hold at most 200 of the smallest.
        assert len(before[table] - after[table]) <= 200 * len(chosen), table
    lost = len(before["parts"] - after["parts"])
    assert lost <= 24 * len(chosen)


@pytest.mark.requirement("FAULT-10")
@pytest.mark.parametrize(
    "where", ["first page", "schema", "words of the index", "index of messages", "inner pages of parts"]
)
def test_damage_where_no_row_is_costs_no_row(home: Path, where: str) -> None:
    database = home / "data" / "ovillo.db"
    before = rows(database)
    overwrite(database, pages_without_rows(database, where), 1)
    done = ovillo(home, "doctor", "--repair", "--yes", "--json")
    assert done.returncode == 0, done.stderr
    after = rows(database)
    for table in RECORDED:
        assert after[table] == before[table], (table, len(before[table]), len(after[table]))
    assert json.loads(ovillo(home, "search", "buffer", "--json").stdout)["sessions"]


def pages_without_rows(database: Path, where: str) -> list[int]:
    if where == "first page":
        return [1]
    data = database.read_bytes()
    if where == "schema":
        first = data[100]
        return [1] if first == 0x0D else [int.from_bytes(data[108:112], "big"), 1]
    db = apsw.Connection(str(database))
    name = {"words of the index": "fts_data", "index of messages": "messages_by_order"}.get(where, "parts")
    (root,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).fetchone()
    db.close()
    return [root]


def cut_off(database: Path) -> None:
    data = database.read_bytes()
    database.write_bytes(data[: len(data) * 2 // 3 // PAGE * PAGE + 100])


def emptied(database: Path) -> None:
    database.write_bytes(b"")


def made_noise(database: Path) -> None:
    database.write_bytes(random.Random(3).randbytes(database.stat().st_size))


def every_third_page(database: Path) -> None:
    overwrite(database, list(range(1, database.stat().st_size // PAGE, 3)), 4)


@pytest.mark.requirement("FAULT-10")
@pytest.mark.parametrize("damage", [cut_off, emptied, made_noise, every_third_page])
def test_every_command_says_what_to_do_and_the_doctor_never_dies(home: Path, damage: Callable[[Path], None]) -> None:
    database = home / "data" / "ovillo.db"
    damage(database)
    damaged = database.read_bytes()
    said = ovillo(home, "doctor")
    assert said.returncode == 1
    assert "damaged" in said.stdout
    assert "--repair" in said.stdout
    assert "Traceback" not in said.stdout + said.stderr
    for words in (["session", "list"], ["search", "buffer"], ["scan"]):
        done = ovillo(home, *words)
        assert "Traceback" not in done.stderr
        assert "bug" not in done.stderr
        if done.returncode:
            assert (done.returncode, "doctor --repair" in done.stderr) == (11, True), done.stderr
    if damage is emptied:
        assert database.read_bytes() == damaged
    repaired = ovillo(home, "doctor", "--repair", "--yes")
    assert repaired.returncode == 0, repaired.stderr
    assert "Saved:" in repaired.stdout
    assert "Lost:" in repaired.stdout
    kept = next((home / "data").glob("damaged-*"))
    assert (kept / "ovillo.db").stat().st_size == len(damaged)
    assert ovillo(home, "doctor").stdout.count("database: sound") == 1
    # What the agents still have is read again, all of it.
    assert ovillo(home, "scan").returncode == 0
    listed = json.loads(ovillo(home, "session", "list", "--json").stdout)["sessions"]
    there = {session["id"] for session in listed}
    assert "s1" in there
    assert "n1" in there or damage in (emptied, made_noise)


@pytest.mark.requirement("FAULT-10")
def test_a_damaged_log_is_not_dropped_in_silence_and_what_is_behind_the_damage_is_saved(tmp_path: Path) -> None:
    with process(tmp_path) as (_, site):
        site.ask("POST", "/api/sessions", {"id": "mine"})
        kept = [append(site, f"k{n}", f"{n} {os.urandom(200).hex()}").json["id"] for n in range(40)]
    # Killed: all of it is in the log.
    log = tmp_path / "data" / "ovillo.db-wal"
    data = bytearray(log.read_bytes())
    frame = 24 + PAGE
    middle = 32 + (len(data) - 32) // frame // 2 * frame
    data[middle + 3000 : middle + 3400] = os.urandom(400)
    log.write_bytes(data)
    refused = ovillo(tmp_path, "session", "list")
    assert refused.returncode == 11, refused.stdout
    assert "write-ahead log" in refused.stderr
    assert log.read_bytes() == data
    repaired = ovillo(tmp_path, "doctor", "--repair", "--yes")
    assert repaired.returncode == 0, repaired.stderr
    with process(tmp_path) as (_, site):
        found = [message["id"] for message in stored(site)]
        assert len(found) >= len(kept) - 2
        assert found[-1] == kept[-1]
        assert append(site, "more", "more").status == 201


@pytest.mark.requirement("FAULT-10")
def test_repair_refuses_while_a_server_runs_and_asks_first(home: Path) -> None:
    database = home / "data" / "ovillo.db"
    with process(home) as (_, site):
        assert site.ask("GET", "/api/sessions").status == 200
        refused = ovillo(home, "doctor", "--repair", "--yes")
        assert refused.returncode == 6
        assert "another process" in refused.stderr
        assert append(site, "still", "still", session="n1").status == 201
    unasked = ovillo(home, "doctor", "--repair", answer="")
    assert unasked.returncode == 2
    assert "--yes" in unasked.stderr
    assert not list(database.parent.glob("damaged-*"))


@pytest.mark.requirement("FAULT-10")
def test_a_repaired_database_that_was_sound_is_the_same(home: Path) -> None:
    database = home / "data" / "ovillo.db"
    before = rows(database)
    assert ovillo(home, "doctor", "--repair", "--yes").returncode == 0
    assert rows(database) == before
    listed = ovillo(home, "key", "list")
    assert "mine" in listed.stdout


@pytest.mark.requirement("FAULT-10")
@pytest.mark.parametrize("is_there", [True, False], ids=["still there", "deleted"])
@pytest.mark.parametrize(
    "lost",
    [
        ("sessions",),
        ("sessions", "session_files"),
        ("sessions", "session_files", "session_places"),
        ("sessions", "places"),
    ],
    ids=" and ".join,
)
def test_a_mirrored_session_whose_row_is_lost_is_there_once_and_kept_when_its_client_deleted_it(
    home: Path, is_there: bool, lost: tuple[str, ...]
) -> None:
    transcript = home / ".claude" / "projects" / "-p" / "s2.jsonl"
    said = {"timestamp": "2026-01-02T03:04:05.000Z", "sessionId": "s2", "cwd": "/p"}
    lines: list[dict[str, Any]] = [
        {"type": "user", "uuid": "a1", "message": {"role": "user", "content": "where are the lanterns"}},
        {
            "type": "assistant",
            "uuid": "a2",
            "message": {"id": "msg_01Aa", "role": "assistant", "content": [{"type": "text", "text": "lanterns hang"}]},
        },
    ]
    transcript.write_text("".join(json.dumps({**said, **line}) + "\n" for line in lines), encoding="utf-8")
    assert ovillo(home, "scan").returncode == 0
    database = home / "data" / "ovillo.db"
    before = rows(database)
    if not is_there:
        transcript.unlink()
    for table in lost:
        made_noise_of(database, table)
    assert ovillo(home, "doctor", "--repair", "--yes").returncode == 0
    assert ovillo(home, "scan").returncode == 0
    after = rows(database)
    assert len(after["sessions"]) == len(before["sessions"])
    assert len(after["messages"]) == len(before["messages"])
    found = json.loads(ovillo(home, "search", "lanterns", "--json").stdout)["sessions"]
    assert len(found) == 1
    assert found[0]["id"].startswith("s2" if is_there else "recovered-")
    tells_the_client = is_there or not {"session_places", "places"} & set(lost)
    assert found[0]["source"] == ("claude_code" if tells_the_client else "unknown")


def made_noise_of(database: Path, table: str) -> None:
    db = apsw.Connection(str(database))
    leaves = db.execute("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'", (table,)).fetchall()
    db.close()
    data = bytearray(database.read_bytes())
    for (page,) in leaves:
        data[(page - 1) * PAGE : page * PAGE] = os.urandom(PAGE)
    database.write_bytes(data)


def dropped(database: Path, table: str) -> None:
    db = apsw.Connection(str(database))
    db.execute(f"DROP TABLE {table}")
    db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    db.close()


def all_tables() -> list[str]:
    """But for the inner ones of text indexes."""
    with tempfile.TemporaryDirectory() as folder:
        db = open_writer(Path(folder) / "empty.db")
        names = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")]
        db.close()
    return sorted(name for name in names if not re.search(r"^sqlite_|fts_|^trigrams_|^code_words_", name))


#: Tables of the clients' history: what is lost of it is read again from their files.
_READ_AGAIN = ("places", "session_places", "session_files", "paths", "touches")


@pytest.mark.requirement("FAULT-14")
@pytest.mark.parametrize("loss", [made_noise_of, dropped], ids=["noise", "dropped"])
@pytest.mark.parametrize("table", all_tables())
def test_of_a_table_that_is_lost_nothing_else_is_lost_and_the_rest_comes_back(
    small: Path, tmp_path: Path, table: str, loss: Callable[[Path, str], None]
) -> None:
    home = Path(shutil.copytree(small, tmp_path / "home"))
    database = home / "data" / "ovillo.db"
    before, had = rows(database), counts(database)
    loss(database, table)
    repair(database, TextAnalyzer())
    after = rows(database)
    assert apsw.Connection(str(database)).pragma("integrity_check") == "ok"
    for name in set(RECORDED) - {table, "sessions", "messages", "parts"}:
        assert after[name] == before[name], name
    services = open_services(
        Settings(data_dir=home / "data", home=small, environment={"HOME": str(small)}, embedder="none")
    )
    services.ingest.scan()
    services.close()
    has = counts(database)
    for name in (*RECORDED, *_READ_AGAIN, "memories", "summaries", "audit"):
        if name != table or name in ("sessions", "messages", *_READ_AGAIN):
            # Texts of what was recorded here hang on nothing that is left when their own table is gone.
            assert has[name] == had[name], name
    assert has["deleted"] == 0


def counts(database: Path) -> dict[str, int]:
    db = apsw.Connection(str(database))
    found = {
        name: db.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
        for name in (*RECORDED, *_READ_AGAIN, "memories", "summaries", "audit")
    }
    found["deleted"] = db.execute("SELECT count(*) FROM sessions WHERE deleted_at_source").fetchone()[0]
    db.close()
    return found
