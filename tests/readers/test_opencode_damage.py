"""Damage in OpenCode's stores costs the damaged record, is listed once, and deletes nothing."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from pathlib import Path

import pytest

from ovillo.model.records import Inventory, Role, SessionId
from ovillo.readers.foreign_sqlite import opened
from tests.builders import folder_state
from tests.readers.opencode_homes import READER, Thread, copied, data_folder, raw_wal, read, sources

_BIG = "ses_e039f3bc6ffeBPwx5L3ZJQCtJo"
_PAGE = 4096


def _tree(home: Path) -> Path:
    return data_folder(home) / "storage"


def _parts(found: dict[str, Thread]) -> set[str]:
    return {part.id for _, messages in found.values() for message in messages for part in message.parts}


def _inventories(home: Path) -> list[Inventory]:
    return [record for record in READER.scan(sources(home)[-1], {}) if isinstance(record, Inventory)]


@pytest.fixture
def json_home(fixtures: Path, tmp_path: Path) -> Path:
    return copied(fixtures, "json", tmp_path)


# --- trees

_BAD = [b"", b'{"id": "x', b"\x00\xff\xfe\x01", b"[]", b"7", b'{"a":' * 5000, b'{"time": {"created": 1e999}}']


@pytest.mark.requirement("READ-13")
@pytest.mark.parametrize("content", _BAD[:6])
def test_a_damaged_session_record_does_not_cost_its_messages(json_home: Path, content: bytes) -> None:
    sound, _, _ = read(sources(json_home)[-1])
    file = next(_tree(json_home).glob(f"session/*/{_BIG}.json"))
    file.write_bytes(content)
    found, skipped, _ = read(sources(json_home)[-1])
    session, messages = found[_BIG]
    assert [item.file for item in skipped] == [str(file)]
    assert [m.id for m in messages] == [m.id for m in sound[_BIG][1]]
    assert (session.created_at, session.project_id) == (messages[0].created_at, file.parent.name)
    assert session.warnings


@pytest.mark.requirement("READ-13")
@pytest.mark.parametrize("content", _BAD[:6])
def test_a_damaged_message_record_does_not_cost_its_parts_nor_its_place(json_home: Path, content: bytes) -> None:
    sound, _, _ = read(sources(json_home)[-1])
    messages = sound[_BIG][1]
    victim = messages[2]
    file = _tree(json_home) / "message" / _BIG / f"{victim.id}.json"
    file.write_bytes(content)
    found, skipped, _ = read(sources(json_home)[-1])
    assert [item.file for item in skipped] == [str(file)]
    assert [m.id for m in found[_BIG][1]] == [m.id for m in messages]
    stand_in = found[_BIG][1][2]
    assert (stand_in.role, stand_in.metadata["damaged"]) == (Role.ASSISTANT, True)
    assert [p.id for p in stand_in.parts] == [p.id for p in victim.parts]


@pytest.mark.requirement("READ-13")
@pytest.mark.parametrize("content", _BAD)
def test_any_damage_to_any_kind_of_file_leaves_the_other_sessions_as_they_are(json_home: Path, content: bytes) -> None:
    sound, _, _ = read(sources(json_home)[-1])
    diffs, todos = _tree(json_home) / "session_diff", _tree(json_home) / "todo"
    project = next((_tree(json_home) / "project").iterdir())
    for file in (project, diffs / f"{_BIG}.json", todos / f"{_BIG}.json"):
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)
    found, _, _ = read(sources(json_home)[-1])
    assert _parts(found) == _parts(sound)
    assert {session.title for session, _ in found.values()} == {session.title for session, _ in sound.values()}


@pytest.mark.requirement("READ-13")
def test_sessions_without_project_record_or_messages_are_read(json_home: Path) -> None:
    shutil.rmtree(_tree(json_home) / "project")
    shutil.rmtree(_tree(json_home) / "message" / _BIG)
    found, skipped, _ = read(sources(json_home)[-1])
    session, messages = found[_BIG]
    assert (len(found), messages, skipped) == (8, [], [])
    assert session.title == "Corregir descuentos en calcular_total"


@pytest.mark.requirement("READ-13")
def test_messages_whose_session_record_is_gone_are_read(json_home: Path) -> None:
    next(_tree(json_home).glob(f"session/*/{_BIG}.json")).unlink()
    session, messages = read(sources(json_home)[-1])[0][_BIG]
    assert (len(messages), session.title) == (12, None)
    assert session.warnings
    assert list(READER.scan(sources(json_home)[-1], {}, only=SessionId(_BIG)))


@pytest.mark.requirement("READ-12")
def test_a_folder_that_cannot_be_listed_is_named_and_nothing_counts_as_deleted(json_home: Path) -> None:
    project = next((_tree(json_home) / "session").iterdir())
    shutil.rmtree(project)
    project.write_text("a file where a folder was")
    found, skipped, _ = read(sources(json_home)[-1])
    assert [item.file for item in skipped] == [str(project)]
    assert _inventories(json_home) == []
    assert len(found) > 0  # the messages are still there


@pytest.mark.requirement("READ-15")
def test_links_that_lead_to_themselves_are_listed(json_home: Path) -> None:
    loop = _tree(json_home) / "message" / _BIG / "msg_loop.json"
    loop.symlink_to(loop)
    folder = _tree(json_home) / "session" / "again"
    folder.symlink_to(folder)
    found, skipped, _ = read(sources(json_home)[-1])
    assert {item.file for item in skipped} == {str(loop), str(folder)}
    assert len(found) == 8


@pytest.mark.requirement("READ-14")
def test_times_of_the_future_and_huge_numbers_keep_their_message(json_home: Path) -> None:
    folder = _tree(json_home) / "message" / _BIG
    for name, value in (("msg_y1", 32_503_680_000_000), ("msg_y2", 10**40), ("msg_y3", -1), ("msg_y4", "soon")):
        tokens = {"input": 10**40, "output": -4, "reasoning": "x", "cache": 3}
        data = {"role": "assistant", "time": {"created": value}, "tokens": tokens, "cost": 1e300}
        (folder / f"{name}.json").write_text(json.dumps(data))
    messages = {m.id: m for m in read(sources(json_home)[-1])[0][_BIG][1]}
    assert messages["msg_y1"].created_at == 32_503_680_000_000  # type: ignore[index]
    odd = [messages[name] for name in ("msg_y2", "msg_y3", "msg_y4")]  # type: ignore[index]
    assert [(m.created_at, m.cost, m.usage and m.usage.input) for m in odd] == [(None, None, 0)] * 3


# --- databases


def _spoil(file: Path, page: int) -> None:
    data = bytearray(file.read_bytes())
    data[page * _PAGE : page * _PAGE + _PAGE] = b"\xa5" * _PAGE
    file.write_bytes(data)


def _pages_of(file: Path, table: str) -> list[int]:
    """Leaf pages of a table, found by the page type and a record of the table's on it."""
    reader = sqlite3.connect(f"file:{file}?mode=ro&immutable=1", uri=True)
    ids = [str(x) for (x,) in reader.execute(f"SELECT id FROM {table}")]
    reader.close()
    data = file.read_bytes()
    leaves = [n for n in range(1, len(data) // _PAGE) if data[n * _PAGE] == 0x0D]
    # In a part's record its message's id follows its own.
    before, after = (b"", b"msg_") if table == "part" else (rb"(?<!prt_.{26})", b"ses_")
    marks = re.compile(b"|".join(before + x.encode() + after for x in ids), re.DOTALL)
    return [n for n in leaves if marks.search(data, n * _PAGE, (n + 1) * _PAGE)]


@pytest.mark.requirement("READ-16")
@pytest.mark.parametrize("table", ["part", "message"])
def test_a_damaged_page_costs_only_the_rows_on_it(fixtures: Path, tmp_path: Path, table: str) -> None:
    home = copied(fixtures, "sqlite", tmp_path)
    file = sources(home)[-1].path
    sound, _, _ = read(sources(home)[-1])
    (page, *_) = _pages_of(file, table)
    data = file.read_bytes()[page * _PAGE : (page + 1) * _PAGE]
    rows = int.from_bytes(data[3:5], "big")
    _spoil(file, page)
    found, skipped, _ = read(sources(home)[-1])
    assert skipped
    assert set(found) == set(sound)
    lost = _parts(sound) - _parts(found)
    assert len(lost) <= (rows if table == "part" else 0)
    ids = {m.id for _, ms in found.values() for m in ms}
    assert ids == {m.id for _, ms in sound.values() for m in ms if m.parts or m.id in ids}
    assert not [item for item in lost if item.encode() not in data]


@pytest.mark.requirement("READ-16")
def test_no_damaged_page_makes_the_scan_fail_or_takes_a_session_for_deleted(fixtures: Path, tmp_path: Path) -> None:
    home = copied(fixtures, "sqlite", tmp_path)
    file = sources(home)[-1].path
    whole = file.read_bytes()
    for page in range(len(whole) // _PAGE):
        file.write_bytes(whole)
        _spoil(file, page)
        found, skipped, _ = read(sources(home)[-1])
        told = _inventories(home)
        assert len(found) == 8 or skipped
        assert all(len(inventory.session_ids) == 8 for inventory in told)


@pytest.mark.requirement("READ-16")
def test_an_empty_session_whose_row_is_lost_does_not_count_as_deleted(fixtures: Path, tmp_path: Path) -> None:
    home = copied(fixtures, "sqlite", tmp_path)
    file = sources(home)[-1].path
    writer = sqlite3.connect(file)
    writer.execute("DELETE FROM part WHERE session_id = 'ses_e039e2618ffegB4JLcjSi4HLQM'")
    writer.execute("DELETE FROM message WHERE session_id = 'ses_e039e2618ffegB4JLcjSi4HLQM'")
    writer.commit()
    (root,) = writer.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'session'").fetchone()
    writer.close()
    _spoil(file, root - 1)
    found, skipped, _ = read(sources(home)[-1])
    assert (len(found), bool(skipped)) == (7, True)
    assert _inventories(home) == []


@pytest.mark.requirement("READ-17")
@pytest.mark.parametrize("size", [0, 10, 100, 5_000, 100_000])
def test_a_cut_database_never_raises_and_takes_nothing_for_deleted(fixtures: Path, tmp_path: Path, size: int) -> None:
    home = copied(fixtures, "sqlite", tmp_path)
    file = sources(home)[-1].path
    file.write_bytes(file.read_bytes()[:size])
    _, skipped, _ = read(sources(home)[-1])
    assert skipped
    assert all(len(inventory.session_ids) == 8 for inventory in _inventories(home))


@pytest.mark.requirement("READ-13")
@pytest.mark.parametrize("data", ["", "{", "[1]", "nonsense", '{"a":' * 5000])
def test_a_bad_row_costs_that_row_and_is_named(fixtures: Path, tmp_path: Path, data: str) -> None:
    home = copied(fixtures, "sqlite", tmp_path)
    place = sources(home)[-1]
    sound, _, _ = read(place)
    writer = sqlite3.connect(place.path)
    (victim,) = writer.execute("SELECT id FROM part LIMIT 1").fetchone()
    writer.execute("UPDATE part SET data = ? WHERE id = ?", (data, victim))
    writer.execute("UPDATE part SET data = CAST(x'ff7b' AS TEXT) WHERE rowid = 2")
    writer.commit()
    writer.close()
    found, skipped, cursor = read(place)
    assert len(_parts(sound) - _parts(found)) == 2
    assert f"part {victim}" in {item.position for item in skipped}
    assert set(found) == set(sound)
    assert len(set(skipped)) == len(skipped)
    assert set(found) <= set(cursor)


@pytest.mark.requirement("READ-13")
def test_rows_without_their_session_or_message_are_read(fixtures: Path, tmp_path: Path) -> None:
    home = copied(fixtures, "sqlite", tmp_path)
    place = sources(home)[-1]
    sound, _, _ = read(place)
    session_id = "ses_e039eb5beffezkVWBKzYmMBVNq"
    victim = sound[session_id][1][2]
    writer = sqlite3.connect(place.path)
    writer.execute("DELETE FROM session WHERE id = ?", (session_id,))
    writer.execute("DELETE FROM message WHERE id = ?", (victim.id,))
    writer.commit()
    writer.close()
    found, _, _ = read(place)
    assert _parts(found) == _parts(sound)
    session, messages = found[session_id]
    assert session.warnings
    assert {m.id for m in messages} == {m.id for m in sound[session_id][1]}


@pytest.mark.requirement("READ-17")
def test_a_database_of_somebody_else_is_listed_and_left(tmp_path: Path) -> None:
    data = data_folder(tmp_path)
    data.mkdir(parents=True)
    writer = sqlite3.connect(data / "opencode.db")
    writer.execute("CREATE TABLE session (name TEXT)")
    writer.close()
    found, skipped, _ = read(sources(tmp_path)[-1])
    assert (found, len(skipped)) == ({}, 1)
    assert "OpenCode" in skipped[0].reason


# --- how the file is opened


@pytest.mark.requirement("READ-134")
@pytest.mark.parametrize("missing", ["-shm", "-wal", "both", "none"])
def test_no_file_appears_or_vanishes_beside_a_database_whatever_stands_there(
    fixtures: Path, tmp_path: Path, missing: str
) -> None:
    home = raw_wal(fixtures, tmp_path)
    file = sources(home)[-1].path
    for end in ("-shm", "-wal"):
        if missing in (end, "both"):
            file.with_name(file.name + end).unlink()
    before = {name: state for name, state in folder_state(home).items() if not name.endswith("-shm")}
    names = set(folder_state(home))
    with opened(file) as database:
        rows = len(list(database.rows("SELECT id FROM part")))
    assert rows == (149 if missing in ("-shm", "none") else 107)
    assert {name: state for name, state in folder_state(home).items() if not name.endswith("-shm")} == before
    assert set(folder_state(home)) == names


@pytest.mark.requirement("READ-134")
def test_a_log_index_that_cannot_be_opened_is_read_from_a_copy(fixtures: Path, tmp_path: Path) -> None:
    home = raw_wal(fixtures, tmp_path)
    file = sources(home)[-1].path
    shm = file.with_name(file.name + "-shm")
    shm.unlink()
    shm.mkdir()
    with opened(file) as database:
        assert len(list(database.rows("SELECT id FROM part"))) == 149


@pytest.mark.requirement("READ-134")
def test_a_client_can_write_between_two_snapshots(fixtures: Path, tmp_path: Path) -> None:
    home = raw_wal(fixtures, tmp_path)
    file = sources(home)[-1].path
    writer = sqlite3.connect(file, timeout=0, isolation_level=None)
    writer.execute("PRAGMA wal_checkpoint(PASSIVE)")
    with opened(file, snapshot=False) as database:
        with database.snapshot():
            list(database.rows("SELECT id FROM part"))
        writer.execute("UPDATE session SET title = 'now'")
        assert writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        with database.snapshot():
            titles = {row["title"] for row in database.rows("SELECT title FROM session")}
    writer.close()
    assert titles == {"now"}
