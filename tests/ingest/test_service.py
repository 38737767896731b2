"""Scanning: what one place does must not cost another, and nothing is read twice or lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from ovillo.model.errors import InvalidInput
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Inventory, SessionId, SkippedRecord
from ovillo.model.sessions import SessionFilter
from ovillo.readers.protocol import Checkpoint, Cursor, Record, Source
from ovillo.store.engine import open_store
from ovillo.store.protocol import Store
from tests.builders import WordAnalyzer, delta, message, session
from tests.ingest.scripted import ScriptedReader, ingest_of

A = SessionId("ses_a")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "data" / "ovillo.db", WordAnalyzer())
    yield opened
    opened.close()


@pytest.mark.requirement("INGEST-2")
def test_a_place_that_fails_costs_neither_its_earlier_records_nor_other_places(store: Store, tmp_path: Path) -> None:
    def breaks(cursor: Cursor) -> Iterator[Record]:
        yield delta(message("m1", 1, "read before the failure"))
        yield Checkpoint({"one": 1})
        raise RuntimeError("the disk made a noise")

    def works(cursor: Cursor) -> Iterator[Record]:
        yield delta(message("m2", 1, "other", of="ses_b"))

    ingest = ingest_of(
        store, tmp_path, ScriptedReader("bad", tmp_path, breaks), ScriptedReader("good", tmp_path, works)
    )
    report = ingest.scan()
    assert (report.sessions, report.messages) == (2, 2)
    assert store.sources.cursor(NS, "bad", str(tmp_path))["one"] == 1
    states = {source.reader: source for source in ingest.sources()}
    assert (states["bad"].status, states["good"].status) == ("unreadable", "ok")
    assert "the disk made a noise" in (states["bad"].error or "")


@pytest.mark.requirement("INGEST-2")
def test_the_places_of_one_reader_are_found_without_looking_for_those_of_others(store: Store, tmp_path: Path) -> None:
    looked: list[str] = []

    class Watched(ScriptedReader):
        def discover(self, env: Mapping[str, str], home: Path) -> list[Source]:
            looked.append(self.name)
            return super().discover(env, home)

    def nothing(cursor: Cursor) -> Iterator[Record]:
        yield from ()

    ingest = ingest_of(store, tmp_path, Watched("one", tmp_path, nothing), Watched("other", tmp_path, nothing))
    every = ingest.discovered()
    looked.clear()
    assert ingest.discovered("one") == [source for source in every if source.reader == "one"] != []
    assert ingest.discovered("neither") == []
    assert looked == ["one"]


@pytest.mark.requirement("INGEST-3")
def test_what_lies_after_the_last_checkpoint_is_read_again_and_not_doubled(store: Store, tmp_path: Path) -> None:
    def half(cursor: Cursor) -> Iterator[Record]:
        yield delta(message("m1", 1, "one"))
        if not cursor:
            yield Checkpoint({"at": 1})
        yield delta(message("m2", 2, "two"))
        if not cursor:
            raise KeyError("killed here")
        yield Checkpoint({"at": 2})

    reader = ScriptedReader("r", tmp_path, half)
    ingest = ingest_of(store, tmp_path, reader)
    ingest.scan()
    ingest.scan()
    assert reader.seen == [{}, {"at": 1}]
    assert [item.id for item in store.sessions.messages(NS, A)] == ["m1", "m2"]


@pytest.mark.requirement("INGEST-4")
def test_what_the_client_deletes_stays_and_is_marked(store: Store, tmp_path: Path) -> None:
    present = [frozenset({A, SessionId("ses_b")}), frozenset({SessionId("ses_b")})]

    def script(cursor: Cursor) -> Iterator[Record]:
        if len(present) == 2:
            yield delta(message("m1", 1, "kept for ever"))
            yield delta(message("m2", 1, "also", of="ses_b"))
        yield Inventory(present.pop(0))

    ingest = ingest_of(store, tmp_path, ScriptedReader("r", tmp_path, script))
    ingest.scan()
    ingest.scan()
    rows = {
        row.session.id: row.session.metadata.get("deleted_at_source", False)
        for row in store.sessions.find(NS, SessionFilter(), 9)
    }
    assert rows == {A: True, "ses_b": False}
    assert [item.id for item in store.sessions.messages(NS, A)] == ["m1"]


@pytest.mark.requirement("INGEST-5")
def test_a_second_scan_waits_for_nobody(store: Store, tmp_path: Path) -> None:
    ingest = ingest_of(store, tmp_path, ScriptedReader("r", tmp_path, lambda cursor: iter(())))
    with store.leases.hold("ingest"):
        assert ingest.scan().busy
    assert not ingest.scan().busy


@pytest.mark.requirement("INGEST-6")
def test_damage_is_listed_once_with_file_position_and_reason(store: Store, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("{")
    bad = SkippedRecord("bad.jsonl", "17", "not JSON")

    def script(cursor: Cursor) -> Iterator[Record]:
        yield bad
        yield bad

    ingest = ingest_of(store, tmp_path, ScriptedReader("r", tmp_path, script))
    ingest.scan()
    ingest.scan()
    (source,) = ingest.sources()
    assert (source.status, source.skipped) == ("damaged", (bad,))
    (tmp_path / "bad.jsonl").unlink()
    assert ingest.sources()[0].status == "ok"


@pytest.mark.requirement("INGEST-7")
def test_a_place_that_vanished_keeps_its_history_and_is_shown_as_gone(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "client"
    folder.mkdir()
    ingest = ingest_of(
        store, tmp_path, ScriptedReader("r", folder, lambda cursor: iter([delta(message("m1", 1, "x"))]))
    )
    ingest.scan()
    folder.rmdir()
    ingest.scan()
    (source,) = ingest.sources()
    assert (source.status, source.sessions) == ("gone", 1)


@pytest.mark.requirement("INGEST-8")
def test_an_unknown_reader_is_refused_with_the_known_ones(store: Store, tmp_path: Path) -> None:
    ingest = ingest_of(store, tmp_path, ScriptedReader("codex", tmp_path, lambda cursor: iter(())))
    with pytest.raises(InvalidInput, match="codex"):
        ingest.scan(readers=["codecs"])


@pytest.mark.requirement("LOAD-8")
def test_of_a_title_without_end_the_beginning_is_kept_and_that_is_said(store: Store, tmp_path: Path) -> None:
    def endless(cursor: Cursor) -> Iterator[Record]:
        yield delta(message("m1", 1, "hello"), about=session(title="An endless title. " * 1_000))

    ingest_of(store, tmp_path, ScriptedReader("long", tmp_path, endless)).scan()
    row = store.sessions.get(NS, A)
    assert row is not None
    assert row.session.title == ("An endless title. " * 1_000)[:4_096]
    assert row.session.warnings == ("The title has 18,000 characters; the first 4,096 are kept.",)


@pytest.mark.requirement("LOAD-8")
def test_a_folder_that_no_system_could_have_is_none_and_that_is_said(store: Store, tmp_path: Path) -> None:
    # A scan looked for rules in each of the 500,000 folders around it.
    folder, branch = "/a" * 500_000, "b" * 10_000

    def endless(cursor: Cursor) -> Iterator[Record]:
        yield delta(message("m1", 1, "hello"), about=session(directory=folder, worktree=folder, git_branch=branch))

    ingest_of(store, tmp_path, ScriptedReader("long", tmp_path, endless)).scan()
    row = store.sessions.get(NS, A)
    assert row is not None
    assert (row.session.directory, row.session.worktree, row.session.git_branch) == (None, None, branch[:4_096])
    assert row.session.warnings == (
        "The directory has 1,000,000 characters; no path is as long.",
        "The worktree has 1,000,000 characters; no path is as long.",
        "The git branch has 10,000 characters; the first 4,096 are kept.",
    )
