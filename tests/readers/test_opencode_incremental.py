"""What the OpenCode reader reads again, and what it does not, while the client goes on writing."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ovillo.model.records import Inventory, SessionDelta, SessionId, SkippedRecord, ToolStatus
from ovillo.readers.opencode.running import running_call, running_calls
from ovillo.readers.protocol import Checkpoint, Cursor, Source
from tests.readers.opencode_homes import READER, copied, data_folder, raw_wal, read, sources

_SPANISH = "ses_e039eb5beffezkVWBKzYmMBVNq"
_FRENCH = "ses_e039e91b2ffeBGnfp6Rruju87y"
_JSON = "ses_e039f3bc6ffeBPwx5L3ZJQCtJo"


@contextmanager
def writing(source: Source) -> Iterator[sqlite3.Connection]:
    """The client, with its log open, as it is while it runs."""
    connection = sqlite3.connect(source.path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    yield connection
    connection.close()


def deltas(source: Source, cursor: Cursor, only: str | None = None) -> tuple[list[SessionDelta], Cursor]:
    moved = dict(cursor)
    found = []
    for record in READER.scan(source, cursor, SessionId(only) if only else None):
        assert not isinstance(record, SkippedRecord)
        if isinstance(record, SessionDelta):
            found.append(record)
        elif isinstance(record, Checkpoint):
            moved.update(record.cursor)
    return found, {key: value for key, value in moved.items() if value is not None}


@pytest.fixture
def source(fixtures: Path, tmp_path: Path) -> Source:
    return sources(copied(fixtures, "sqlite", tmp_path))[-1]


@pytest.fixture
def tree(fixtures: Path, tmp_path: Path) -> Source:
    return sources(copied(fixtures, "json", tmp_path))[-1]


def now_ms() -> int:
    return time.time_ns() // 1_000_000


# --- the database


@pytest.mark.requirement("READ-18")
def test_a_call_that_ends_in_an_old_session_is_read_though_the_session_row_stands_still(source: Source) -> None:
    """Rows are updated in place: no new row, no new id, and OpenCode does not touch the session for it."""
    with writing(source) as client:
        sql = "SELECT id, message_id, data FROM part WHERE session_id = ? AND data LIKE '%\"bash\"%'"
        part_id, message_id, data = client.execute(sql, (_SPANISH,)).fetchone()
        running = json.loads(data)
        ended, running["state"]["status"] = running["state"], "running"
        client.execute("UPDATE part SET data = ? WHERE id = ?", (json.dumps(running), part_id))
        _, cursor = deltas(source, {})
        ended = {**ended, "status": "completed", "output": "done at last"}
        values = (json.dumps({**running, "state": ended}), now_ms(), part_id)
        client.execute("UPDATE part SET data = ?, time_updated = ? WHERE id = ?", values)
        (delta,) = [x for x in deltas(source, cursor)[0] if x.session.id == _SPANISH]
    (message,) = [m for m in delta.messages if m.id == message_id]
    tool = next(p.tool for p in message.parts if p.id == part_id)
    assert tool is not None
    assert (tool.status, tool.output) == (ToolStatus.COMPLETED, "done at last")


@pytest.mark.requirement("READ-18")
def test_rows_written_with_a_clock_set_back_are_found_by_their_number(source: Source) -> None:
    with writing(source) as client:
        _, cursor = deltas(source, {})
        said = json.dumps({"role": "user", "time": {"created": 1_700_000_000_000}})
        client.execute("INSERT INTO message VALUES ('msg_0', ?, 1700000000000, 1700000000000, ?)", (_FRENCH, said))
        (delta,) = [x for x in deltas(source, cursor)[0] if x.session.id == _FRENCH]
    assert "msg_0" in {m.id for m in delta.messages}


@pytest.mark.requirement("READ-18")
def test_a_row_from_the_future_does_not_hide_what_is_written_after_it(source: Source) -> None:
    with writing(source) as client:
        (part_id,) = client.execute("SELECT id FROM part WHERE session_id = ? LIMIT 1", (_FRENCH,)).fetchone()
        client.execute("UPDATE part SET time_updated = 9000000000000 WHERE id = ?", (part_id,))
        _, cursor = deltas(source, {})
        sql = "SELECT id, message_id FROM part WHERE session_id = ? AND id <> ? ORDER BY id DESC"
        other, message_id = client.execute(sql, (_FRENCH, part_id)).fetchone()
        client.execute("UPDATE part SET time_updated = ? WHERE id = ?", (now_ms() + 1_000, other))
        found = [m.id for x in deltas(source, cursor)[0] if x.session.id == _FRENCH for m in x.messages]
    assert message_id in found


@pytest.mark.requirement("READ-19")
def test_messages_of_one_millisecond_keep_their_places_when_one_of_them_is_read_alone(source: Source) -> None:
    with writing(source) as client:
        at = 1_795_236_000_000
        for name, when in (("a", at), ("b", at), ("c", at), ("later", at + 60_000)):
            data = json.dumps({"role": "user", "time": {"created": when}})
            client.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (f"msg_{name}", _FRENCH, when, when, data))
        whole, cursor = deltas(source, {})
        client.execute("UPDATE message SET time_updated = ? WHERE id = 'msg_b'", (now_ms(),))
        again, _ = deltas(source, cursor, only=_FRENCH)
    seqs = {m.id: m.seq for x in whole for m in x.messages}
    assert "msg_a" not in {m.id for x in again for m in x.messages}
    assert [(m.id, m.seq) for x in again for m in x.messages if m.id == "msg_b"] == [("msg_b", seqs["msg_b"])]  # type: ignore[index]


@pytest.mark.requirement("READ-11")
def test_an_untouched_database_is_not_even_opened_again(source: Source) -> None:
    long_ago = time.time() - 3600
    os.utime(source.path, (long_ago, long_ago))
    _, cursor = deltas(source, {})
    # Would be damage, if somebody looked; the stamp says that nobody has to.
    state = source.path.stat()
    source.path.write_bytes(b"x" * state.st_size)
    os.utime(source.path, ns=(state.st_atime_ns, state.st_mtime_ns))
    records = list(READER.scan(source, cursor))
    assert [len(r.session_ids) for r in records if isinstance(r, Inventory)] == [8]
    assert not [r for r in records if isinstance(r, SessionDelta | SkippedRecord)]


@pytest.mark.requirement("READ-11")
def test_a_database_written_a_moment_ago_is_looked_at_again(source: Source) -> None:
    os.utime(source.path)
    _, cursor = deltas(source, {})
    assert "#file" not in cursor


@pytest.mark.requirement("READ-18")
def test_a_session_scanned_alone_gives_what_changed_and_moves_only_its_own_entry(source: Source) -> None:
    with writing(source) as client:
        first, cursor = deltas(source, {})
        at = now_ms()
        data = json.dumps({"role": "user", "time": {"created": at}})
        client.execute("INSERT INTO message VALUES ('msg_new', ?, ?, ?, ?)", (_SPANISH, at, at, data))
        (delta,), moved = deltas(source, cursor, only=_SPANISH)
    known = [m.id for x in first if x.session.id == _SPANISH for m in x.messages]
    # Beside the new one, those of the last seconds: a row's time is set before it can be seen.
    assert delta.messages[-1].id == "msg_new"
    assert known[0] not in {m.id for m in delta.messages}
    assert {key for key in moved if moved[key] != cursor.get(key)} == {_SPANISH}
    assert deltas(source, cursor, only="ses_unknown") == ([], cursor)


@pytest.mark.requirement("READ-18")
def test_a_compaction_in_a_known_session_supersedes_what_stands_before_it(source: Source) -> None:
    with writing(source) as client:
        first, cursor = deltas(source, {})
        before = [m.id for x in first if x.session.id == _SPANISH for m in x.messages]
        at = now_ms()
        rows = [
            ("msg_zask", at, {"role": "user", "time": {"created": at}}),
            ("msg_zsum", at + 1, {"role": "assistant", "summary": True, "parentID": "msg_zask"}),
        ]
        for name, when, data in rows:
            values = (name, _SPANISH, when, when, json.dumps({"time": {"created": when}, **data}))
            client.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", values)
        found, _ = deltas(source, cursor, only=_SPANISH)
    assert found[-1].superseded == tuple(before)


@pytest.mark.requirement("READ-12")
def test_a_session_deleted_at_the_source_leaves_inventory_and_cursor(source: Source) -> None:
    with writing(source) as client:
        _, cursor = deltas(source, {})
        for table in ("part", "message"):
            client.execute(f"DELETE FROM {table} WHERE session_id = ?", (_FRENCH,))
        client.execute("DELETE FROM session WHERE id = ?", (_FRENCH,))
        records = list(READER.scan(source, cursor))
    (inventory,) = [r for r in records if isinstance(r, Inventory)]
    assert _FRENCH not in inventory.session_ids
    assert any(r.cursor.get(_FRENCH, "") is None for r in records if isinstance(r, Checkpoint))


@pytest.mark.requirement("READ-11")
def test_a_scan_in_many_steps_finds_what_one_scan_finds(fixtures: Path, tmp_path: Path) -> None:
    """The client's own rows, put in one transaction at a time in the order of their times."""
    source = sources(raw_wal(fixtures, tmp_path))[-1]
    whole, _, _ = read(source)
    steps = sources(copied(fixtures, "sqlite", tmp_path / "steps"))[-1]
    with sqlite3.connect(steps.path) as client:
        rows = client.execute("SELECT * FROM part ORDER BY time_created, id").fetchall()
        messages = client.execute("SELECT * FROM message ORDER BY time_created, id").fetchall()
        client.execute("DELETE FROM part")
        client.execute("DELETE FROM message")
    client.close()
    found: dict[str, set[str]] = {}
    parts: set[str] = set()
    cursor: Cursor = {}
    seqs: dict[str, int] = {}
    with writing(steps) as live:
        for start in range(0, len(messages), 9):
            piece = messages[start : start + 9]
            live.executemany("INSERT INTO message VALUES (?, ?, ?, ?, ?)", piece)
            wanted = {row[0] for row in piece}
            live.executemany("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", [r for r in rows if r[1] in wanted])
            some, cursor = deltas(steps, cursor)
            for delta in some:
                for message in delta.messages:
                    found.setdefault(delta.session.id, set()).add(message.id)
                    parts |= {part.id for part in message.parts}
                    assert seqs.setdefault(message.id, message.seq) == message.seq
    assert found == {key: {m.id for m in ms} for key, (_, ms) in whole.items() if ms}
    assert parts == {p.id for _, ms in whole.values() for m in ms for p in m.parts}


# --- trees


@pytest.mark.requirement("READ-18")
@pytest.mark.parametrize("what", ["part", "message", "todo", "session"])
def test_any_changed_file_of_a_tree_has_its_session_read_again_and_no_other(tree: Source, what: str) -> None:
    _, cursor = deltas(tree, {})
    message = next((tree.path / "message" / _JSON).iterdir())
    file = {
        "part": tree.path / "part" / message.stem / "prt_new.json",
        "message": message.with_name("msg_new.json"),
        "todo": tree.path / "todo" / f"{_JSON}.json",
        "session": next(tree.path.glob(f"session/*/{_JSON}.json")),
    }[what]
    content = {"part": {"type": "text", "text": "x"}, "message": {"role": "user", "time": {"created": 1}}, "todo": []}
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(content.get(what, {"title": "renamed"})))
    found, moved = deltas(tree, cursor)
    assert {x.session.id for x in found} == {_JSON}
    assert deltas(tree, moved)[0] == []


@pytest.mark.requirement("READ-11")
def test_the_cursor_of_a_tree_does_not_grow_with_its_files(tree: Source) -> None:
    _, cursor = deltas(tree, {})
    assert len(cursor) == 8
    assert len(json.dumps(cursor)) < 8 * 400


@pytest.mark.requirement("READ-12")
def test_a_session_deleted_from_a_tree_leaves_its_inventory(tree: Source) -> None:
    _, cursor = deltas(tree, {})
    next(tree.path.glob(f"session/*/{_JSON}.json")).unlink()
    for message in (tree.path / "message" / _JSON).iterdir():
        message.unlink()
    (tree.path / "message" / _JSON).rmdir()
    records = list(READER.scan(tree, cursor))
    (inventory,) = [r for r in records if isinstance(r, Inventory)]
    assert (len(inventory.session_ids), _JSON in inventory.session_ids) == (7, False)


# --- the caller


def _run(client: sqlite3.Connection, part_id: str, session_id: str, at: int) -> None:
    sql = "SELECT id FROM message WHERE session_id = ? ORDER BY time_created DESC"
    (message_id,) = client.execute(sql, (session_id,)).fetchone()
    state = {"status": "running", "input": {"query": "x"}, "time": {"start": at}}
    part = json.dumps({"type": "tool", "tool": "memory_search_sessions", "callID": "c", "state": state})
    client.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", (part_id, message_id, session_id, at, at, part))


@pytest.mark.requirement("READ-23")
def test_two_sessions_making_the_same_call_are_both_named_and_neither_is_guessed(source: Source) -> None:
    with writing(source) as client:
        _run(client, "prt_1", _SPANISH, now_ms())
        _run(client, "prt_2", _FRENCH, now_ms())
        assert set(running_calls(source, "search_sessions", {"query": "x"})) == {_SPANISH, _FRENCH}
        assert running_call(source, "search_sessions", {"query": "x"}) is None


@pytest.mark.requirement("READ-23")
def test_a_call_that_a_killed_client_left_running_long_ago_is_nobodys(source: Source) -> None:
    with writing(source) as client:
        _run(client, "prt_1", _SPANISH, now_ms() - 86_400_000)
        assert running_calls(source, "search_sessions", {"query": "x"}) == {}


@pytest.mark.requirement("READ-23")
def test_no_caller_is_found_in_a_store_that_is_not_there_or_damaged(tmp_path: Path) -> None:
    file = data_folder(tmp_path) / "opencode.db"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    assert running_call(Source("opencode", file, "sqlite"), "list_sessions", {}) is None
    assert running_call(Source("opencode", tmp_path / "none", "json"), "list_sessions", {}) is None
