"""What every store must do for entities of sessions. A store's own test file imports all of this."""

from __future__ import annotations

import pytest

from ovillo.model.conclusions import ConcludedAt, Conclusion
from ovillo.model.entities import EntityType, Evidence, Sighting
from ovillo.model.records import DEFAULT_NAMESPACE, Namespace, Role, SessionId
from ovillo.model.sessions import SessionFilter
from ovillo.store.protocol import EntityStore, Store, TrackedRange
from tests.builders import call, delta, message, session, tool_part
from tests.store.contract_links import editing

NS = DEFAULT_NAMESPACE
A, B = SessionId("ses_a"), SessionId("ses_b")
FUNCTION = EntityType.FUNCTION


@pytest.fixture
def entities(store: Store) -> EntityStore:
    return store.entities


def told(store: Store, of: SessionId, *texts: str, namespace: Namespace = NS) -> None:
    store.ingest.apply(namespace, [delta(*(message(f"{of}-{n}", n, text, of=of) for n, text in enumerate(texts, 1)))])


def walk(
    entities: EntityStore,
    of: SessionId,
    *names: str,
    kept: int = 0,
    namespace: Namespace = NS,
    kind: EntityType = FUNCTION,
) -> bool:
    """Every part after the settled ones names all of ``names``; the last ``kept`` parts stay unsettled."""
    state = entities.track_state(namespace, of)
    assert state is not None
    parts = entities.parts_to_track(namespace, of, state.settled, 100)
    docs = [item.doc for item in parts]
    found = [(doc, Sighting(kind, name, 3, 7, "src/pay.py", Evidence.SAID)) for doc in docs for name in names]
    settled = parts[-kept - 1].mark if len(parts) > kept else state.settled
    done = TrackedRange(
        state, settled, state.last, state.characters_now, tuple(found), tuple(s.name.lower() for _, s in found)
    )
    return entities.put_tracked(namespace, of, done)


@pytest.mark.requirement("ENT-6")
def test_a_session_waits_until_it_was_read_and_again_when_it_grows(store: Store, entities: EntityStore) -> None:
    told(store, A, "one")
    told(store, B, "two")
    store.ingest.apply(NS, [delta(about=session("ses_b", updated_at=9_999_999_999_999))])
    assert entities.untracked(NS, 9) == [B, A]
    assert entities.tracked_share(NS) == (0, 2)
    walk(entities, A, "pay")
    assert entities.untracked(NS, 9) == [B]
    assert entities.tracked_share(NS) == (1, 2)
    told(store, A, "one", "more")
    assert A in entities.untracked(NS, 9)


@pytest.mark.requirement("ENT-6")
def test_a_part_that_grew_makes_its_session_wait(store: Store, entities: EntityStore) -> None:
    running = tool_part("m", 0, call())
    store.ingest.apply(NS, [delta(message("m", 1, parts=(running,), role=Role.ASSISTANT))])
    walk(entities, A, "pay")
    finished = tool_part("m", 0, call(output="ValueError: bad"))
    store.ingest.apply(NS, [delta(message("m", 1, parts=(finished,), role=Role.ASSISTANT))])
    assert entities.untracked(NS, 9) == [A]


@pytest.mark.requirement("ENT-6")
def test_parts_that_are_read_again_count_once(store: Store, entities: EntityStore) -> None:
    told(store, A, "one", "two", "three")
    assert walk(entities, A, "pay", kept=2)
    told(store, A, "one", "two", "three", "four")
    assert walk(entities, A, "pay", kept=2)
    (entity,) = entities.of_session(NS, A)
    assert (entity.name, entity.count, [x.seq for x in entity.mentions]) == ("pay", 4, [1, 2, 3, 4])


@pytest.mark.requirement("ENT-6")
def test_what_is_no_longer_found_where_it_was_is_forgotten(store: Store, entities: EntityStore) -> None:
    told(store, A, "one")
    walk(entities, A, "pay", kept=1)
    told(store, A, "one", "two")
    walk(entities, A, "refund", kept=2)
    assert [x.name for x in entities.of_session(NS, A)] == ["refund"]


@pytest.mark.requirement("ENT-6")
def test_of_two_that_read_the_same_portion_one_is_kept(store: Store, entities: EntityStore) -> None:
    told(store, A, "one")
    state = entities.track_state(NS, A)
    assert state is not None
    (part,) = entities.parts_to_track(NS, A, 0, 9)
    seen = Sighting(FUNCTION, "pay", 0)
    both = TrackedRange(state, part.mark, part.mark, state.characters_now, ((part.doc, seen),), ("pay",))
    assert entities.put_tracked(NS, A, both)
    assert not entities.put_tracked(NS, A, both)
    assert [x.count for x in entities.of_session(NS, A)] == [1]


@pytest.mark.requirement("ENT-7")
def test_mentions_tell_message_part_time_role_place_line_and_file(store: Store, entities: EntityStore) -> None:
    told(store, A, "one", "two")
    walk(entities, A, "pay")
    (entity,) = entities.of_session(NS, A)
    first = entity.mentions[0]
    assert (first.seq, first.role, first.offset, first.line, first.message_id) == (1, Role.USER, 3, 7, f"{A}-1")
    assert first.at is not None
    assert (entity.file, entity.lines, entity.evidence, entity.is_candidate) == (
        "src/pay.py",
        (7, 7),
        Evidence.SAID,
        True,
    )
    assert entities.of_session(NS, A, types=[EntityType.CLASS]) == []


@pytest.mark.requirement("ENT-7")
def test_of_many_places_the_first_and_the_last_are_kept_and_all_are_counted(
    store: Store, entities: EntityStore
) -> None:
    told(store, A, *(f"text {n}" for n in range(40)))
    walk(entities, A, "pay")
    (entity,) = entities.of_session(NS, A)
    seqs = [x.seq for x in entity.mentions]
    assert (entity.count, seqs[0], seqs[-1]) == (40, 1, 40)
    assert len(seqs) < 20


@pytest.mark.requirement("ENT-8")
def test_sessions_of_a_name_come_newest_first_and_stay_in_their_namespace(store: Store, entities: EntityStore) -> None:
    other = Namespace("other")
    for of in (A, B):
        told(store, of, "x")
        walk(entities, of, "pay")
    told(store, A, "x", namespace=other)
    walk(entities, A, "secret", namespace=other)
    store.ingest.apply(NS, [delta(about=session("ses_b", updated_at=9_999_999_999_999))])
    name = (FUNCTION, "pay", "pay")
    assert [x.session_id for x in entities.discussions(NS, [name], limit=9)] == [B, A]
    assert [x.session_id for x in entities.discussions(NS, [name], limit=9, session_ids=[A])] == [A]
    assert entities.discussing(NS, [name]) == {A, B}
    assert entities.discussing(other, [name]) == set()
    assert [(x.name, x.sessions) for x in entities.known(NS, "", prefix=True)] == [("pay", 2)]
    assert [x.name for x in entities.known(other, "sec", prefix=True)] == ["secret"]


@pytest.mark.requirement("ENT-9")
def test_a_removed_session_takes_its_names_along_unless_others_use_them(store: Store, entities: EntityStore) -> None:
    for of, names in ((A, ("pay", "mine")), (B, ("pay",))):
        told(store, of, "x")
        walk(entities, of, *names)
    store.recording.delete(NS, A, at=5)
    assert [(x.name, x.sessions) for x in entities.known(NS, "", prefix=True)] == [("pay", 1)]
    assert entities.tracked_share(NS) == (1, 1)


@pytest.mark.requirement("ENT-9")
def test_what_a_fork_copied_is_its_origins(store: Store, entities: EntityStore) -> None:
    told(store, A, "one")
    told(store, B, "one", "two")
    walk(entities, B, "pay")
    store.ingest.set_lineage(NS, B, forked_from=A, fork_point=None, inherited=[f"{B}-1"])
    assert entities.of_session(NS, B) == []
    walk(entities, B, "pay")
    (entity,) = entities.of_session(NS, B)
    assert [x.seq for x in entity.mentions] == [2]


@pytest.mark.requirement("ENT-8")
def test_files_that_tools_touched_are_known_with_what_was_done(store: Store, entities: EntityStore) -> None:
    store.ingest.apply(NS, [editing(A, "/w/src/pay.py"), editing(B, "/w/other/pay.py")])
    (touched,) = entities.touched(NS, A, 9)
    assert (touched.type, touched.name, touched.count, touched.was_changed) == (
        EntityType.FILE,
        "/w/src/pay.py",
        1,
        True,
    )
    assert [x.session_id for x in entities.sessions_touching(NS, "src/pay.py", limit=9)] == [A]
    assert {x.session_id for x in entities.sessions_touching(NS, "pay.py", limit=9)} == {A, B}
    assert entities.sessions_touching(Namespace("other"), "pay.py", limit=9) == []


@pytest.mark.requirement("ENT-8")
def test_files_know_the_tickets_of_the_sessions_that_changed_them(store: Store, entities: EntityStore) -> None:
    store.ingest.apply(NS, [editing(A, "/w/src/pay.py", "/elsewhere/x.py"), editing(B, "/w/src/cart.py")])
    walk(entities, A, "PAY-9", kind=EntityType.TICKET)
    walk(entities, B, *(f"SHOP-{number}" for number in range(4)), kind=EntityType.TICKET)
    assert entities.tickets_of_changes(NS, "/w") == {"src/pay.py": {"PAY-9"}}
    assert entities.tickets_of_changes(NS, "/w/src", most=9)["cart.py"] == {f"SHOP-{number}" for number in range(4)}
    assert entities.tickets_of_changes(Namespace("other"), "/w") == {}


def conclude(entities: EntityStore, of: SessionId, kinds: Conclusion, *, kept: int = 0) -> bool:
    """Every part after the settled ones concludes so, from its third character on."""
    state = entities.track_state(NS, of)
    assert state is not None
    parts = entities.parts_to_track(NS, of, state.settled, 100)
    settled = parts[-kept - 1].mark if len(parts) > kept else state.settled
    concluded = tuple((item.doc, ConcludedAt(3, 9, kinds)) for item in parts)
    return entities.put_tracked(
        NS, of, TrackedRange(state, settled, state.last, state.characters_now, (), (), concluded)
    )


@pytest.mark.requirement("CONTEXT-31")
def test_conclusions_are_told_by_kind_and_session_the_newest_first(store: Store, entities: EntityStore) -> None:
    told(store, A, "one", "two")
    told(store, B, "three")
    conclude(entities, A, Conclusion.DECISION | Conclusion.CAUSE)
    conclude(entities, B, Conclusion.OUTCOME)
    decided = entities.conclusions(NS, SessionFilter(), Conclusion.DECISION, 9)
    docs = [item.doc for item in entities.parts_to_track(NS, A, 0, 9)]
    assert [doc for doc, _ in decided] == docs[::-1]
    assert decided[0][1] == ConcludedAt(3, 9, Conclusion.DECISION | Conclusion.CAUSE)
    either = Conclusion.DECISION | Conclusion.OUTCOME
    assert len(entities.conclusions(NS, SessionFilter(), either, 9)) == 3
    assert len(entities.conclusions(NS, SessionFilter(), either, 2)) == 2
    assert len(entities.conclusions(NS, SessionFilter(session_ids=(B,)), either, 9)) == 1
    assert entities.conclusions(Namespace("other"), SessionFilter(), either, 9) == []


@pytest.mark.requirement("CONTEXT-31")
def test_what_is_no_longer_concluded_where_it_was_is_forgotten(store: Store, entities: EntityStore) -> None:
    told(store, A, "one", "two")
    conclude(entities, A, Conclusion.DECISION, kept=1)
    told(store, A, "one", "two", "three")
    conclude(entities, A, Conclusion.OUTCOME, kept=2)
    assert len(entities.conclusions(NS, SessionFilter(), Conclusion.DECISION, 9)) == 1
    assert len(entities.conclusions(NS, SessionFilter(), Conclusion.OUTCOME, 9)) == 2
