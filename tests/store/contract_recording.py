"""What every store must do for sessions recorded here. A store's own test file imports all of this."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ovillo.model.errors import Conflict, InvalidInput, NotFound
from ovillo.model.live import NATIVE, Summary
from ovillo.model.records import DEFAULT_NAMESPACE, Message, Namespace, SessionId, SessionStatus, SessionType
from ovillo.model.sessions import SessionFilter
from ovillo.store.protocol import DocFilter, RecordingStore, Store, Term
from tests.builders import NOON, delta, message, session

NS = DEFAULT_NAMESPACE
A = SessionId("ses_a")


@pytest.fixture
def recording(store: Store) -> RecordingStore:
    return store.recording


def native(**fields: object):
    return session(source=NATIVE, title="Payment bug", **fields)


def append(recording: RecordingStore, *messages: Message, keys: tuple[str, ...] = (), namespace: Namespace = NS):
    entries = list(zip(messages, keys or [m.id for m in messages], strict=True))
    return recording.append(namespace, A, entries, at=NOON + 99_000).result(10)


@pytest.mark.requirement("REC-1")
def test_a_created_session_comes_back_and_a_second_creation_changes_nothing(
    store: Store, recording: RecordingStore
) -> None:
    row, is_new = recording.create(NS, native(type=SessionType.BUGFIX, modes=("plan",)))
    again, second = recording.create(NS, native(type=SessionType.REVIEW))
    assert (is_new, second) == (True, False)
    assert again == row
    assert (row.session.type, row.session.modes) == (SessionType.BUGFIX, ("plan",))
    assert [x.session.id for x in store.sessions.find(NS, SessionFilter(name="payment"), 5)] == [A]


@pytest.mark.requirement("REC-2")
def test_appended_messages_are_numbered_and_found_at_once(store: Store, recording: RecordingStore) -> None:
    recording.create(NS, native())
    first = append(recording, message("m1", 0, "the validator refuses cards"))
    second = append(recording, message("m2", 0, "look at line 45"), message("m3", 0, "fixed"))
    assert [x.seq for x in first + second] == [1, 2, 3]
    assert [m.seq for m in store.sessions.messages(NS, A)] == [1, 2, 3]
    row = store.sessions.get(NS, A)
    assert row is not None
    assert (row.counts.messages, row.counts.prompts, row.first_prompt) == (3, 3, "the validator refuses cards")
    assert row.counts.characters == len("the validator refuses cardslook at line 45fixed")
    assert row.session.updated_at == NOON + 99_000
    assert [hit.doc for hit in store.text.match(NS, Term("validator"), DocFilter(), 5)]


@pytest.mark.requirement("REC-3")
def test_a_key_that_comes_again_gives_the_first_answer_and_stores_nothing(
    store: Store, recording: RecordingStore
) -> None:
    recording.create(NS, native())
    first = append(recording, message("m1", 0, "hello"), keys=("k1",))
    again = append(recording, message("another-id", 0, "hello"), keys=("k1",))
    assert (again[0].message_id, again[0].seq, again[0].replayed) == (first[0].message_id, 1, True)
    assert len(store.sessions.messages(NS, A)) == 1
    with pytest.raises(Conflict, match="k1"):
        append(recording, message("m2", 0, "something else"), keys=("k1",))


@pytest.mark.requirement("REC-3")
def test_one_wrong_message_of_several_leaves_none(store: Store, recording: RecordingStore) -> None:
    recording.create(NS, native())
    append(recording, message("m1", 0, "hello"), keys=("k1",))
    with pytest.raises(Conflict):
        append(recording, message("m2", 0, "new"), message("m3", 0, "other"), keys=("k2", "k1"))
    with pytest.raises(Conflict, match="m1"):
        append(recording, message("m1", 0, "the id again"), keys=("k3",))
    assert [m.id for m in store.sessions.messages(NS, A)] == ["m1"]
    assert append(recording, message("m2", 0, "new"), keys=("k2",))[0].seq == 2


@pytest.mark.requirement("REC-4")
def test_many_writers_of_one_session_get_one_order_without_gaps(recording: RecordingStore) -> None:
    recording.create(NS, native())

    def write(writer: int) -> list[int]:
        return [append(recording, message(f"m{writer}-{n}", 0, f"said {writer} {n}"))[0].seq for n in range(25)]

    with ThreadPoolExecutor(8) as pool:
        seqs = list(pool.map(write, range(8)))
    assert all(mine == sorted(mine) for mine in seqs)
    assert sorted(x for mine in seqs for x in mine) == list(range(1, 201))


@pytest.mark.requirement("REC-5")
def test_a_change_sets_what_is_named_and_leaves_the_rest(store: Store, recording: RecordingStore) -> None:
    before, _ = recording.create(NS, native(provider="claude", metadata={"feature_id": "PAY-1"}))
    row = recording.update(
        NS, A, {"title": "Renamed", "status": SessionStatus.COMPLETED, "modes": ("plan",)}, at=NOON + 61_000
    )
    assert (row.session.title, row.session.status, row.session.modes) == ("Renamed", "completed", ("plan",))
    assert (row.session.provider, row.session.metadata) == ("claude", {"feature_id": "PAY-1"})
    assert row.version != before.version
    assert [x.session.id for x in store.sessions.find(NS, SessionFilter(name="renamed"), 5)] == [A]
    assert store.text.match(NS, Term("payment"), DocFilter(), 5) == []
    with pytest.raises(Conflict, match="changed meanwhile"):
        recording.update(NS, A, {"title": "Late"}, at=NOON, if_version=before.version)
    with pytest.raises(InvalidInput, match="created_at"):
        recording.update(NS, A, {"created_at": 1}, at=NOON)
    with pytest.raises(NotFound):
        recording.update(NS, SessionId("ses_none"), {"title": "x"}, at=NOON)


@pytest.mark.requirement("REC-5")
def test_a_field_that_is_emptied_is_empty_and_found_no_more(store: Store, recording: RecordingStore) -> None:
    recording.create(NS, native(provider="claude", modes=("plan",), metadata={"feature_id": "PAY-1"}))
    row = recording.update(NS, A, {"title": None, "provider": None, "modes": None, "metadata": None}, at=NOON)
    assert (row.session.title, row.session.provider, row.session.modes, row.session.metadata) == (None, None, (), {})
    assert store.text.match(NS, Term("payment"), DocFilter(), 5) == []
    recording.update(NS, A, {"title": "Payment bug"}, at=NOON)
    assert len(store.text.match(NS, Term("payment"), DocFilter(), 5)) == 1


@pytest.mark.requirement("REC-6")
def test_a_deleted_session_leaves_nothing_that_could_be_found(store: Store, recording: RecordingStore) -> None:
    recording.create(NS, native())
    append(recording, message("m1", 0, "unmistakable"))
    recording.put_summary(NS, summary(1, 1))
    recording.delete(NS, A, at=NOON)
    assert store.sessions.get(NS, A) is None
    assert store.text.match(NS, Term("unmistakable"), DocFilter(), 5) == []
    assert recording.summaries(NS, A) == []
    with pytest.raises(NotFound):
        append(recording, message("m2", 0, "too late"))
    recording.create(NS, native())
    assert append(recording, message("m1", 0, "again"))[0].seq == 1


@pytest.mark.requirement("REC-7")
def test_a_store_is_divided_by_namespace(store: Store, recording: RecordingStore) -> None:
    other = Namespace("team")
    recording.create(NS, native())
    recording.create(other, native())
    append(recording, message("m1", 0, "ours"))
    append(recording, message("m1", 0, "theirs"), namespace=other)
    recording.delete(other, A, at=NOON)
    assert [m.parts[0].text for m in store.sessions.messages(NS, A)] == ["ours"]
    assert store.text.match(other, Term("ours"), DocFilter(), 5) == []


@pytest.mark.requirement("REC-8")
def test_every_change_is_in_the_log_in_order(store: Store, recording: RecordingStore) -> None:
    start = store.changes.last(NS)
    recording.create(NS, native())
    append(recording, message("m1", 0, "a"), message("m2", 0, "b"))
    append(recording, message("m2", 0, "b"))
    recording.update(NS, A, {"title": "x"}, at=NOON)
    log = store.changes.since(NS, start, 100)
    assert [(c.kind, c.ref) for c in log] == [
        ("session", A),
        ("message", f"{A}/m1"),
        ("message", f"{A}/m2"),
        ("session", A),
    ]
    recording.delete(NS, A, at=NOON)
    # Of what is gone the log only says that it is gone.
    assert [(c.kind, c.ref) for c in store.changes.since(NS, start, 100)] == [("session_deleted", A)]
    numbers = [start, *(c.seq for c in log), store.changes.last(NS)]
    assert numbers == sorted(set(numbers))


def summary(first: int, last: int) -> Summary:
    return Summary(f"sum_{last}", A, first, last, "They spoke.", 100, 3, "extractive", NOON)


@pytest.mark.requirement("REC-9")
def test_summaries_follow_each_other_and_never_go_back(store: Store, recording: RecordingStore) -> None:
    recording.create(NS, native())
    recording.put_summary(NS, summary(1, 36))
    recording.put_summary(NS, summary(1, 72))
    assert recording.summaries(NS, A) == [summary(1, 36), summary(1, 72)]
    with pytest.raises(Conflict, match="72"):
        recording.put_summary(NS, summary(1, 72))
    row = store.sessions.get(NS, A)
    assert row is not None
    assert row.session.summary == "They spoke."


@pytest.mark.requirement("REC-10")
def test_what_a_reader_merges_does_not_touch_recorded_sessions_and_the_other_way_round(
    store: Store, recording: RecordingStore
) -> None:
    store.ingest.apply(NS, [delta(message("m1", 1, "mirrored", of="ses_m"))])
    recording.create(NS, native())
    append(recording, message("m1", 0, "recorded"))
    assert [m.parts[0].text for m in store.sessions.messages(NS, SessionId("ses_m"))] == ["mirrored"]
    assert store.sessions.count(NS, SessionFilter()) == 2


@pytest.mark.requirement("REC-2")
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(texts=st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=6), batch=st.integers(1, 3))
def test_whatever_is_appended_comes_back(store: Store, recording: RecordingStore, texts: list[str], batch: int) -> None:
    if store.sessions.get(NS, A):
        recording.delete(NS, A, at=NOON)
    recording.create(NS, native())
    messages = [message(f"m{n}", 0, text) for n, text in enumerate(texts)]
    for start in range(0, len(messages), batch):
        append(recording, *messages[start : start + batch])
    kept = store.sessions.messages(NS, A)
    expected = [text.encode("utf-8", "replace").decode() for text in texts]
    assert [m.parts[0].text for m in kept] == expected
    assert kept == [
        replace(m, seq=n, parts=(replace(m.parts[0], text=text),))
        for n, (m, text) in enumerate(zip(messages, expected, strict=True), 1)
    ]


@pytest.mark.requirement("REC-31")
def test_the_newest_messages_are_taken_back_marked_and_kept_and_nobody_gets_one_twice(
    store: Store, recording: RecordingStore
) -> None:
    recording.create(NS, native())
    append(recording, *(message(f"m{n}", 0, f"said {n}") for n in range(12)))
    before = store.sessions.get(NS, A)
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda _: recording.take_back(NS, A, 2, at=NOON + 1), range(4)))
    assert sorted(each for pair in taken for each in pair) == sorted(f"m{n}" for n in range(4, 12))
    said = store.sessions.messages(NS, A)
    assert [each.id for each in said if not each.reverted] == ["m0", "m1", "m2", "m3"]
    assert len(said) == 12
    after = store.sessions.get(NS, A)
    assert before is not None
    assert after is not None
    assert after.version != before.version
    append(recording, message("m12", 0, "once more"))
    assert recording.take_back(NS, A, None, at=NOON) == ["m12", "m3", "m2", "m1", "m0"]
    assert recording.take_back(NS, A, 1, at=NOON) == []
    with pytest.raises(NotFound):
        recording.take_back(Namespace("elsewhere"), A, 1, at=NOON)
