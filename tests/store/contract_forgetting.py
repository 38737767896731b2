"""What every store must do when a session is forgotten."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ovillo.model.errors import Conflict
from ovillo.model.records import Namespace, SessionDelta
from ovillo.model.sessions import SessionFilter
from ovillo.model.tombstones import Forgettable, Tombstone, mark_of
from ovillo.store.protocol import DocFilter, ForgettingStore, Store, Term
from tests.builders import NOON, message, session

NS, OTHER = Namespace("default"), Namespace("team")


@pytest.fixture
def forgetting(store: Store) -> ForgettingStore:
    return store.forgetting


def delta(session_id: str, *texts: str, **fields: object) -> SessionDelta:
    made = [message(f"{session_id}-{n}", n, text, of=session_id) for n, text in enumerate(texts)]
    return SessionDelta(session(session_id, **fields), tuple(made))


@pytest.mark.requirement("FORGET-2")
def test_what_was_read_before_it_was_forgotten_is_not_written_afterwards(
    store: Store, forgetting: ForgettingStore
) -> None:
    source = ("claude_code", "/home/me/.claude")
    prepared = store.ingest.preparation().prepare([delta("ses_a", "zorvath")])
    forgetting.forget_session(NS, session("ses_a").id, at=NOON)
    store.ingest.submit(NS, prepared, source=source, cursor={"a.jsonl": {"size": 1}}).result()
    assert store.sessions.get(NS, session("ses_a").id) is None
    assert store.text.match(NS, Term("zorvath"), DocFilter(), 5) == []
    # Its cursor does not move: the next scan sees the file once more, and hides its name.
    assert store.sources.cursor(NS, *source) == {}


@pytest.mark.requirement("FORGET-5")
def test_a_mark_of_a_project_covers_what_began_before_it_and_can_be_lifted(
    store: Store, forgetting: ForgettingStore
) -> None:
    mark = mark_of(store.secrets.get("forgetting"), Forgettable.PROJECT, "/srv/secret")
    stone = Tombstone(Forgettable.PROJECT, mark, NOON)
    forgetting.put_tombstone(NS, stone)
    store.ingest.apply(NS, [delta("ses_a", "before", directory="/srv/secret/deeper/")])
    late = delta("ses_b", "after", directory="/srv/secret")
    store.ingest.apply(NS, [replace(late, session=replace(late.session, created_at=NOON + 1))])
    store.ingest.apply(NS, [delta("ses_c", "beside", directory="/srv/secrets")])
    store.ingest.apply(OTHER, [delta("ses_a", "theirs", directory="/srv/secret")])
    assert {x.session.id for x in store.sessions.find(NS, SessionFilter(), 10)} == {"ses_b", "ses_c"}
    assert len(store.sessions.find(OTHER, SessionFilter(), 10)) == 1
    assert [x.mark for x in forgetting.tombstones(NS)] == [mark]
    assert forgetting.tombstones(OTHER) == []
    assert forgetting.lift_tombstones(NS, [mark]) == 1
    store.ingest.apply(NS, [delta("ses_a", "before", directory="/srv/secret/deeper/")])
    assert {x.session.id for x in store.sessions.find(NS, SessionFilter(), 10)} == {"ses_a", "ses_b", "ses_c"}


@pytest.mark.requirement("FORGET-5")
def test_reading_again_drops_the_entries_of_the_cursor_that_the_caller_names(
    store: Store, forgetting: ForgettingStore
) -> None:
    source = ("claude_code", "/home/me/.claude")
    cursor = {"a.jsonl": 1, "%x": 2, "_y": 3, "!whole": 4}
    store.ingest.apply(NS, [delta("ses_a", "zorvath")], source=source, cursor=cursor)
    forgetting.read_source_again(NS, *source, ["%", "!wh"])
    assert store.sources.cursor(NS, *source) == {"a.jsonl": 1, "_y": 3}
    forgetting.lift_tombstones(NS, [], ["_"])
    assert store.sources.cursor(NS, *source) == {"a.jsonl": 1}


@pytest.mark.requirement("FORGET-1")
def test_copies_in_a_fork_are_found_in_the_fork_once_the_origin_is_gone(
    store: Store, forgetting: ForgettingStore
) -> None:
    store.ingest.apply(NS, [delta("ses_a", "zorvath", "drifts"), delta("ses_b", "zorvath", "drifts", "again")])
    store.ingest.set_lineage(
        NS, session("ses_b").id, forked_from=session("ses_a").id, fork_point="ses_a-1", inherited=["ses_b-0", "ses_b-1"]
    )
    assert len(store.text.match(NS, Term("zorvath"), DocFilter(), 5)) == 1
    forgetting.forget_session(NS, session("ses_a").id, at=NOON)
    assert len(store.text.match(NS, Term("zorvath"), DocFilter(), 5)) == 1
    row = store.sessions.get(NS, session("ses_b").id)
    assert row is not None
    assert row.session.forked_from is None
    assert [m.inherited_from for m in store.sessions.messages(NS, row.session.id)] == [None, None, None]


@pytest.mark.requirement("FORGET-1")
def test_a_forgotten_text_is_no_neighbour_any_more(store: Store, forgetting: ForgettingStore) -> None:
    store.ingest.apply(NS, [delta("ses_a", "zorvath drifts away"), delta("ses_b", "something else here")])
    waiting = store.vectors.not_embedded(NS, "model", 10)
    vectors = {text: np.full((1, 16), -1 if "zorvath" in text else 1, np.float32) / 4 for _, text in waiting}
    store.vectors.put(NS, "model", [(doc, vectors[text]) for doc, text in waiting])
    asked = np.full(16, -0.25, np.float32)
    before = store.vectors.nearest(NS, "model", asked, DocFilter(), 5)
    gone = max(before, key=lambda doc: before[doc])
    forgetting.forget_session(NS, session("ses_a").id, at=NOON)
    assert set(store.vectors.nearest(NS, "model", asked, DocFilter(), 5)) == set(before) - {gone}
    assert gone not in {doc for doc, _ in store.vectors.stored(NS, "model")}
    # Whether or not the number of the text is given out again: it stands for the new one only.
    store.ingest.apply(NS, [delta("ses_c", "brand new text here")])
    assert gone not in store.vectors.nearest(NS, "model", asked, DocFilter(), 5)


@pytest.mark.requirement("FORGET-6")
def test_a_session_cannot_be_made_under_a_forgotten_id(store: Store, forgetting: ForgettingStore) -> None:
    forgetting.forget_session(NS, session("ses_a").id, at=NOON)
    with pytest.raises(Conflict, match="forgotten"):
        store.recording.create(NS, session("ses_a"))
    store.recording.create(OTHER, session("ses_a"))


@pytest.mark.requirement("FORGET-1")
def test_numbers_of_changes_do_not_go_back_when_a_session_is_forgotten(
    store: Store, forgetting: ForgettingStore
) -> None:
    store.ingest.apply(NS, [delta("ses_a", "one")])
    last = store.changes.last(NS)
    forgetting.forget_session(NS, session("ses_a").id, at=NOON)
    (left,) = store.changes.since(NS, 0, 10)
    assert left.seq > last
    assert "ses_a" not in left.ref
