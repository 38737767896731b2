"""A reader that understands more reads again what was read before: once, in place, and nothing stands twice."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ovillo.app import open_services
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Author, Inventory, Role, SessionId, Usage
from ovillo.model.sessions import SessionFilter
from ovillo.readers.protocol import Checkpoint, Cursor, Record
from ovillo.search.service import SearchRequest
from ovillo.store.engine import open_store
from ovillo.store.protocol import DocFilter, Store, Term
from tests.builders import WordAnalyzer, delta, message, text_part
from tests.ingest.scripted import ScriptedReader, ingest_of
from tests.interfaces.opened import copy_homes, settings_for

A = SessionId("ses_a")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "data" / "ovillo.db", WordAnalyzer())
    yield opened
    opened.close()


def old(cursor: Cursor) -> Iterator[Record]:
    """What an early version made of a file: an expansion taken for a prompt, a shifted usage, a message twice."""
    if cursor:
        return
    answer = message("m2", 2, "an answer", role=Role.ASSISTANT, author=Author.MODEL, usage=Usage(9, 9))
    yield replace(
        delta(
            message("m1", 1, "an expansion", author=Author.HUMAN),
            answer,
            message("m3", 3, "doubled", author=Author.HUMAN),
        ),
        from_start=True,
    )
    yield Checkpoint({"file": 3})
    yield Inventory(frozenset({A}))


def new(cursor: Cursor) -> Iterator[Record]:
    if cursor:
        return
    parts = (
        text_part("m1", "an expansion", 0, synthetic=True),
        text_part("m1", "typed", 1, metadata={"display_text": "/do typed"}),
    )
    yield replace(
        delta(
            message("m1", 1, author=Author.HUMAN, parts=parts),
            message("m2", 2, "an answer", role=Role.ASSISTANT, author=Author.MODEL),
        ),
        from_start=True,
    )
    yield Checkpoint({"file": 3})
    yield Inventory(frozenset({A}))


def reader_of(tmp_path: Path, script: object, version: int, *, appends_only: bool = True) -> ScriptedReader:
    reader = ScriptedReader("r", tmp_path, script)  # type: ignore[arg-type]
    reader.version, reader.appends_only = version, appends_only
    return reader


@pytest.mark.requirement("INGEST-20")
def test_a_new_version_of_a_reader_reads_once_again_what_was_read_before(store: Store, tmp_path: Path) -> None:
    ingest_of(store, tmp_path, reader_of(tmp_path, old, 1)).scan()
    (kept,) = store.text.match(NS, Term("answer"), DocFilter(), 5)
    reader = reader_of(tmp_path, new, 2)
    ingest = ingest_of(store, tmp_path, reader)
    ingest.scan()
    first, second = store.sessions.messages(NS, A)
    assert [(part.text, part.synthetic) for part in first.parts] == [("an expansion", True), ("typed", False)]
    assert second.usage is None
    row = store.sessions.get(NS, A)
    assert row is not None
    assert (row.counts.messages, row.counts.parts, row.counts.prompts) == (2, 3, 1)
    assert row.first_prompt == "/do typed"
    assert store.text.match(NS, Term("doubled"), DocFilter(), 5) == []
    # What came out as before was not written again: its vectors hold.
    (again,) = store.text.match(NS, Term("answer"), DocFilter(), 5)
    assert again.doc == kept.doc
    ingest.scan()
    assert reader.seen == [{}, {"file": 3}]


@pytest.mark.requirement("INGEST-20")
def test_what_a_client_may_have_removed_is_kept_when_it_is_read_again(store: Store, tmp_path: Path) -> None:
    ingest_of(store, tmp_path, reader_of(tmp_path, old, 1)).scan()
    ingest_of(store, tmp_path, reader_of(tmp_path, new, 2, appends_only=False)).scan()
    assert [item.id for item in store.sessions.messages(NS, A)] == ["m1", "m2", "m3"]
    row = store.sessions.get(NS, A)
    assert row is not None
    assert row.counts.prompts == 2


@pytest.mark.requirement("INGEST-20")
def test_reading_again_that_was_broken_off_goes_on_and_ends(store: Store, tmp_path: Path) -> None:
    def breaks(cursor: Cursor) -> Iterator[Record]:
        yield next(new(cursor))
        raise RuntimeError("killed here")

    ingest_of(store, tmp_path, reader_of(tmp_path, old, 1)).scan()
    ingest_of(store, tmp_path, reader_of(tmp_path, breaks, 2)).scan()
    assert len(store.sessions.messages(NS, A)) == 3
    ingest_of(store, tmp_path, reader_of(tmp_path, new, 2)).scan()
    assert [item.id for item in store.sessions.messages(NS, A)] == ["m1", "m2"]


@pytest.mark.requirement("INGEST-20")
def test_histories_read_before_versions_were_noted_are_put_right(fixtures: Path, tmp_path: Path) -> None:
    home = copy_homes(fixtures, tmp_path / "home")
    services = open_services(settings_for(home))
    services.ingest.scan()
    before = services.store.sessions.find(NS, SessionFilter(), 200)
    messages = {row.session.id: services.store.sessions.messages(NS, row.session.id) for row in before}
    services.close()
    with closing(sqlite3.connect(home / "ovillo-data/ovillo.db")) as database:
        database.execute("DELETE FROM cursors WHERE key = '@reader'")
        database.execute("UPDATE messages SET input = input + 7 WHERE input > 0")
        database.commit()
    services = open_services(settings_for(home))
    try:
        services.ingest.scan()
        after = services.store.sessions.find(NS, SessionFilter(), 200)
        assert after == [replace(row, version=now.version) for row, now in zip(before, after, strict=True)]
        readers = {"claude_code", "codex", "gemini_cli"}
        for row in before:
            if row.session.source in readers:
                assert services.store.sessions.messages(NS, row.session.id) == messages[row.session.id]
        assert services.search.search(NS, SearchRequest("retry_delay")).sessions
        assert services.ingest.scan().touched == frozenset()
    finally:
        services.close()
