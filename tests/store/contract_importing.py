"""What every store must do with a session that comes in whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from ovillo.model.errors import Conflict, InvalidInput
from ovillo.model.live import NATIVE, Summary
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Message, MessageId, Namespace, SessionId
from ovillo.model.sessions import SessionFilter
from ovillo.store.protocol import DocFilter, ImportStore, Store, Term
from tests.builders import NOON, call, delta, message, session, tool_part

A = SessionId("ses_a")
ABOUT = session(source=NATIVE, title="Imported")
MESSAGES = (
    message("m1", 1, "what fails"),
    message("m2", 2, parts=(tool_part("m2", 0, replace(call(), input={"file_path": "/src/pay.py"})),)),
)
SUMMARY = Summary("sum_1", A, 1, 1, "it failed", 9, 2, "extractive", NOON)


@pytest.fixture
def importing(store: Store) -> ImportStore:
    return store.importing


@pytest.mark.requirement("TRANSFER-13")
def test_an_imported_session_is_there_with_all_that_is_derived(store: Store, importing: ImportStore) -> None:
    row = importing.import_session(NS, ABOUT, MESSAGES, [SUMMARY], at=NOON)
    assert store.sessions.get(NS, A) == row
    assert (row.session, row.first_prompt) == (ABOUT, "what fails")
    assert (row.counts.messages, row.counts.parts, row.counts.prompts) == (2, 2, 2)
    assert store.sessions.messages(NS, A) == list(MESSAGES)
    assert store.recording.summaries(NS, A) == [SUMMARY]
    assert len(store.text.match(NS, Term("fails"), DocFilter(), 10)) == 1
    assert len(store.text.match(NS, Term("imported"), DocFilter(), 10)) == 1
    assert [change.kind for change in store.changes.since(NS, 0, 10)] == ["session", "message", "message"]
    assert store.sessions.count(Namespace("elsewhere"), SessionFilter()) == 0


@pytest.mark.requirement("TRANSFER-13")
def test_an_imported_session_can_be_gone_on_with_and_removed(store: Store, importing: ImportStore) -> None:
    importing.import_session(NS, ABOUT, MESSAGES, at=NOON)
    assert store.recording.append(NS, A, [(message("m3", 0, "more"), "k")], at=NOON).result()[0].seq == 3
    store.recording.delete(NS, A, at=NOON)
    assert store.text.match(NS, Term("fails"), DocFilter(), 10) == []


@pytest.mark.requirement("TRANSFER-13", "LOAD-9")
def test_messages_come_one_by_one_and_what_ends_them_leaves_nothing(store: Store, importing: ImportStore) -> None:
    def broken() -> Iterator[Message]:
        yield MESSAGES[0]
        raise InvalidInput("The second one is no message.")

    with pytest.raises(InvalidInput, match="second"):
        importing.import_session(NS, ABOUT, broken(), at=NOON)
    assert store.sessions.count(NS, SessionFilter()) == 0
    assert store.changes.since(NS, 0, 10) == []
    row = importing.import_session(NS, ABOUT, iter(MESSAGES), at=NOON)
    assert (row.counts.messages, row.first_prompt) == (2, "what fails")
    assert len(store.changes.since(NS, 0, 10)) == 3


@pytest.mark.requirement("TRANSFER-13")
def test_an_id_that_is_taken_stays_as_it_was(store: Store, importing: ImportStore) -> None:
    store.ingest.apply(NS, [delta(message("old", 1, "before"))])
    with pytest.raises(Conflict):
        importing.import_session(NS, ABOUT, MESSAGES, at=NOON)
    assert [item.id for item in store.sessions.messages(NS, A)] == ["old"]


@pytest.mark.requirement("TRANSFER-13")
def test_an_import_that_fails_halfway_leaves_nothing(store: Store, importing: ImportStore) -> None:
    importing.import_session(NS, replace(ABOUT, id=SessionId("ses_0")), [], at=NOON)
    before = store.changes.last(NS)
    beyond = replace(MESSAGES[1], id=MessageId("m9"), completed_at=2**70)
    with pytest.raises(InvalidInput):
        importing.import_session(NS, ABOUT, [MESSAGES[0], beyond], at=NOON)
    assert store.sessions.get(NS, A) is None
    assert store.changes.last(NS) == before
    assert store.text.match(NS, Term("fails"), DocFilter(), 10) == []
    # Its words are new again for whoever says them next.
    importing.import_session(NS, ABOUT, MESSAGES, at=NOON)
    assert len(store.text.match(NS, Term("fails"), DocFilter(), 10)) == 1
