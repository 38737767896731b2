"""Goose: the database and the files before it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ovillo.model.records import Author, PartType, SessionId, SessionKind, ToolStatus, Usage
from ovillo.readers.goose import GooseReader
from tests.readers.conftest import Golden, unpack
from tests.readers.harvest import harvest, harvest_home

READER = GooseReader()
NEW = "20261119_1"
SUB = "20261119_2"
OLD = "20250601_100000"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return unpack("goose/both-stores", tmp_path / "case") / "home"


def database_of(home: Path) -> Path:
    return home / ".local" / "share" / "goose" / "sessions" / "sessions.db"


@pytest.mark.requirement("READ-128")
def test_the_database_and_the_older_files_are_both_read_and_the_database_wins(golden: Golden) -> None:
    found, places = golden(READER, "goose/both-stores")
    assert [place.layout for place in places] == ["jsonl", "sqlite"]
    assert set(found.sessions) == {NEW, SUB, OLD}
    assert found.sessions[OLD].prompts == ["¿Qué hace?"]
    assert found.sessions[OLD].session.title == "Older session"
    assert (found.sessions[SUB].session.kind, found.sessions[SUB].session.title) == (SessionKind.SUBAGENT, "Sub task")
    assert found.sessions[NEW].session.directory == "/srv/app"


@pytest.mark.requirement("READ-129")
def test_results_join_their_calls_and_failed_calls_say_so(golden: Golden) -> None:
    found, _ = golden(READER, "goose/both-stores")
    assert [(t.name, t.status, t.output) for t in found.sessions[NEW].tools] == [
        ("developer__shell", ToolStatus.COMPLETED, "def retry_delay"),
        ("unknown", ToolStatus.ERROR, "no such tool"),
    ]
    assert found.sessions[NEW].prompts == ["What does retry_delay do?", "Cap it"]


@pytest.mark.requirement("READ-130")
def test_a_compaction_hides_what_it_replaced_and_its_summary_is_no_answer(golden: Golden) -> None:
    found, _ = golden(READER, "goose/both-stores")
    session = found.sessions[NEW]
    assert [m.superseded for m in session.messages] == [True, True, True, False, False, False]
    (summary,) = [m for m in session.messages if m.is_summary]
    assert summary.author is Author.SYNTHETIC
    assert session.text(PartType.COMPACTION) == ["Summary: retry_delay doubles the wait."]


@pytest.mark.requirement("READ-131")
def test_the_sums_of_a_session_are_its_usage_and_are_not_counted_twice_as_it_grows(home: Path) -> None:
    (place,) = [place for place in READER.discover({}, home) if place.layout == "sqlite"]
    first = harvest(READER, place).sessions[NEW]
    assert first.usage == Usage(1700, 300)
    with closing(sqlite3.connect(database_of(home))) as database:
        database.execute("UPDATE sessions SET accumulated_input_tokens = 2000, updated_at = '2026-11-19 11:00:00'")
        database.execute(
            "INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES (?, 'assistant', ?, ?)",
            (NEW, '[{"type": "text", "text": "more"}]', 1_795_082_500),
        )
        database.commit()
    second = harvest(READER, place).sessions[NEW]
    paid = [m.id for m in second.messages if m.usage]
    assert paid == [m.id for m in first.messages if m.usage]
    assert second.usage == Usage(2000, 300)


@pytest.mark.requirement("READ-132")
def test_messages_keep_their_ids_when_the_conversation_is_written_again(home: Path) -> None:
    before = set(harvest_home(READER, home).sessions[NEW].by_id)
    with closing(sqlite3.connect(database_of(home))) as database:
        database.execute("UPDATE messages SET id = id + 100")
        database.commit()
    assert set(harvest_home(READER, home).sessions[NEW].by_id) == before


@pytest.mark.requirement("READ-133")
def test_only_changed_sessions_are_read_again_and_vanished_ones_leave_the_inventory(home: Path) -> None:
    (place,) = [place for place in READER.discover({}, home) if place.layout == "sqlite"]
    first = harvest(READER, place)
    # A session with a damaged row is looked at again; the others are not.
    assert set(harvest(READER, place, first.cursor).sessions) == {SUB}
    with closing(sqlite3.connect(database_of(home))) as database:
        database.execute("DELETE FROM sessions WHERE id = ?", (SUB,))
        database.execute("UPDATE sessions SET name = 'renamed'")
        database.commit()
    again = harvest(READER, place, first.cursor)
    assert {key: one.session.title for key, one in again.sessions.items()} == {NEW: "renamed"}
    assert again.inventory == {NEW}
    assert set(harvest(READER, place, only=SessionId(NEW)).sessions) == {NEW}


@pytest.mark.requirement("READ-134")
@pytest.mark.parametrize("damage", [b"", b"not a database", b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_file_that_is_no_database_is_listed_and_nothing_else_suffers(damage: bytes, home: Path) -> None:
    database_of(home).write_bytes(damage)
    found = harvest_home(READER, home)
    assert set(found.sessions) == {OLD}
    assert len(found.skipped) == (1 if damage else 0)
    # What cannot be read proves no deletion.
    assert found.inventory == {OLD}


@pytest.mark.requirement("READ-134")
def test_reading_a_database_leaves_no_file_beside_it_open_or_closed(home: Path) -> None:
    folder = database_of(home).parent
    before = sorted(folder.iterdir())
    harvest_home(READER, home)
    assert sorted(folder.iterdir()) == before
    with closing(sqlite3.connect(database_of(home))) as client:
        client.execute("INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES (?, ?, ?, ?)",
            (NEW, "user", '[{"type": "text", "text": "still in the WAL"}]', 1_795_082_600))  # fmt: skip
        client.commit()
        assert "still in the WAL" in harvest_home(READER, home).sessions[NEW].prompts
    assert sorted(folder.iterdir()) == before


@pytest.mark.requirement("READ-134")
def test_invalid_utf_8_in_a_row_costs_at_most_its_letters(home: Path) -> None:
    with closing(sqlite3.connect(database_of(home))) as database:
        database.execute("UPDATE sessions SET name = CAST(x'ff41' AS TEXT) WHERE id = ?", (NEW,))
        database.commit()
    found = harvest_home(READER, home)
    assert found.sessions[NEW].session.title == "\ufffdA"
    assert found.sessions[SUB].session.title == "Sub task"
