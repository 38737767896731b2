"""What every store must do. A store's own test file brings a ``store`` fixture and imports all of this."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ovillo.model.records import (
    DEFAULT_NAMESPACE,
    MessageId,
    Namespace,
    Role,
    SessionId,
    SessionKind,
    SkippedRecord,
    ToolResult,
    ToolStatus,
    Usage,
)
from ovillo.store.protocol import (
    AllOf,
    AnyOf,
    DocFilter,
    Except,
    Order,
    Phrase,
    Prefix,
    SessionFilter,
    Store,
    Term,
)
from tests.anything import JSON, TEXTS, same, whole
from tests.builders import NOON, call, delta, message, session, text_part, tool_part

NS = DEFAULT_NAMESPACE
A, B = SessionId("ses_a"), SessionId("ses_b")


@pytest.mark.requirement("STORE-1")
def test_a_delta_comes_back_as_it_went_in(store: Store) -> None:
    tool = call(output="3 passed", status=ToolStatus.COMPLETED)
    said = message("m1", 1, "fix the parser")
    answer = message(
        "m2",
        2,
        role=Role.ASSISTANT,
        parts=(text_part("m2", "done"), tool_part("m2", 1, tool)),
        usage=Usage(1, 2, 3, 4, 5),
    )
    store.ingest.apply(NS, [delta(said, answer, about=session(title="Parser", metadata={"raw": {"x": [1, None]}}))])
    assert store.sessions.messages(NS, A) == [said, answer]
    row = store.sessions.get(NS, A)
    assert row is not None
    assert row.session == session(title="Parser", metadata={"raw": {"x": [1, None]}})
    assert (row.counts.messages, row.counts.parts, row.counts.prompts, row.first_prompt) == (2, 3, 1, "fix the parser")


@pytest.mark.requirement("STORE-2")
def test_applying_the_same_delta_twice_changes_nothing(store: Store) -> None:
    given_delta = delta(message("m1", 1, "once"), message("m2", 2, "again", role=Role.ASSISTANT, usage=Usage(5)))
    store.ingest.apply(NS, [given_delta])
    before = store.changes.since(NS, 0, 100)
    again = store.ingest.apply(NS, [given_delta])
    assert (again.sessions, again.messages, again.parts, again.touched) == (0, 0, 0, frozenset())
    assert store.changes.since(NS, 0, 100) == before
    assert [hit.doc for hit in store.text.match(NS, Term("once"), DocFilter(), 10)] != []
    assert len(store.text.match(NS, Term("once"), DocFilter(), 10)) == 1


@pytest.mark.requirement("STORE-3")
def test_an_answer_written_in_pieces_becomes_one_message_with_its_last_usage(store: Store) -> None:
    store.ingest.apply(
        NS, [delta(message("m1", 1, role=Role.ASSISTANT, parts=(text_part("m1", "first", 0),), usage=Usage(10, 2)))]
    )
    store.ingest.apply(
        NS, [delta(message("m1", 4, role=Role.ASSISTANT, parts=(text_part("m1", "second", 1),), usage=Usage(10, 9)))]
    )
    (found,) = store.sessions.messages(NS, A)
    assert [part.text for part in found.parts] == ["first", "second"]
    assert found.usage == Usage(10, 9)
    assert found.seq == 1
    for again in (Usage(3, 9, cache_read=7), None, Usage()):
        store.ingest.apply(NS, [delta(message("m1", 1, role=Role.ASSISTANT, usage=again))])
    assert store.sessions.messages(NS, A)[0].usage == Usage(3, 9, cache_read=7)


@pytest.mark.requirement("STORE-4")
def test_a_late_tool_result_joins_its_call_and_can_be_found(store: Store) -> None:
    store.ingest.apply(NS, [delta(message("m1", 1, role=Role.ASSISTANT, parts=(tool_part("m1", 0, call()),)))])
    result = ToolResult("call-1", "quixotic failure", ToolStatus.ERROR, ended_at=NOON)
    assert store.ingest.apply(NS, [delta(tool_results=(result,))]).touched == {A}
    (found,) = store.sessions.messages(NS, A)
    tool = found.parts[0].tool
    assert tool is not None
    assert (tool.output, tool.status, tool.ended_at) == ("quixotic failure", ToolStatus.ERROR, NOON)
    assert len(store.text.match(NS, Term("quixotic"), DocFilter(is_error=True), 5)) == 1


@pytest.mark.requirement("STORE-5")
def test_absence_never_overwrites(store: Store) -> None:
    done = call(output="kept", status=ToolStatus.COMPLETED)
    store.ingest.apply(
        NS,
        [delta(message("m1", 1, role=Role.ASSISTANT, parts=(tool_part("m1", 0, done),), model="big", usage=Usage(7)))],
    )
    store.ingest.apply(NS, [delta(message("m1", 1, role=Role.ASSISTANT, parts=(tool_part("m1", 0, call()),)))])
    (found,) = store.sessions.messages(NS, A)
    assert found.parts[0].tool == done
    assert (found.model, found.usage) == ("big", Usage(7))


@pytest.mark.requirement("STORE-6")
def test_the_newer_place_of_a_client_wins_and_the_older_fills_gaps(store: Store) -> None:
    store.ingest.apply(
        NS, [delta(message("m1", 1, "new words"), about=session(title="New"))], source=("oc", "db"), precedence=2
    )
    old = delta(message("m1", 1, "old words"), message("m0", 0, "only here"), about=session(title="Old", slug="s"))
    store.ingest.apply(NS, [old], source=("oc", "json"), precedence=1)
    row = store.sessions.get(NS, A)
    assert row is not None
    assert (row.session.title, row.session.slug) == ("New", "s")
    assert [part.text for item in store.sessions.messages(NS, A) for part in item.parts] == ["only here", "new words"]


@pytest.mark.requirement("STORE-7")
def test_messages_come_in_seq_order_and_pages_lose_none(store: Store) -> None:
    store.ingest.apply(NS, [delta(*(message(f"m{n}", n, str(n)) for n in (5, 1, 4, 2, 3)))])
    seen: list[int] = []
    after: int | None = None
    while page := store.sessions.messages(NS, A, after_seq=after, limit=2):
        seen += [item.seq for item in page]
        after = page[-1].seq
    assert seen == [1, 2, 3, 4, 5]
    assert [item.seq for item in store.sessions.messages(NS, A, newest_first=True, limit=2)] == [5, 4]


@pytest.mark.requirement("STORE-30")
def test_a_page_behind_a_message_stays_there_when_others_turn_up(store: Store) -> None:
    store.ingest.apply(NS, [delta(*(message(f"m{n}", n, str(n)) for n in (10, 20, 30)), message("twin", 20, "twin"))])
    assert [item.id for item in store.sessions.messages(NS, A, after_id="m20")] == ["twin", "m30"]
    store.ingest.apply(NS, [delta(message("m5", 5, "5"), message("m25", 25, "25"))])
    assert [item.id for item in store.sessions.messages(NS, A, after_id="m20")] == ["twin", "m25", "m30"]
    assert [item.id for item in store.sessions.messages(NS, A, before_id="twin", newest_first=True)] == [
        "m20",
        "m10",
        "m5",
    ]
    assert [store.sessions.place_of(NS, A, f"m{n}") for n in (5, 10, 20, 30)] == [0, 1, 2, 5]
    assert store.sessions.place_of(NS, A, "nobody") is None
    assert store.sessions.messages(NS, A, after_id="nobody") == []


@pytest.mark.requirement("STORE-1")
def test_a_message_that_comes_twice_in_one_delta_is_one(store: Store) -> None:
    pieces = (text_part("m1", "first", 0),), (text_part("m1", "second", 1),)
    store.ingest.apply(
        NS, [delta(*(message("m1", 1, role=Role.ASSISTANT, parts=parts, usage=Usage(1)) for parts in pieces))]
    )
    (found,) = store.sessions.messages(NS, A)
    assert [part.text for part in found.parts] == ["first", "second"]


@pytest.mark.requirement("STORE-31")
@given(arriving=st.permutations(range(12)), cut=st.integers(1, 4))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_files_of_a_session_are_merged_by_time_whatever_came_first(store: Store, arriving: list[int], cut: int) -> None:
    """Three files of four messages; one has no time, one a clock that went back."""
    session_id = SessionId(f"ses_{cut}_" + "_".join(map(str, arriving)))
    said = {}
    for n in range(12):
        file, source = divmod(n, 4)
        at = None if n == 1 else NOON - 5 if n == 6 else NOON + 10 * source + file
        said[n] = (f"file{file}", replace(message(f"m{n}", source * 100, of=session_id), created_at=at))
    # What stands in one file is read from its beginning to its end.
    order = {file: iter([n for n in sorted(arriving) if n // 4 == file]) for file in range(3)}
    steps = [next(order[n // 4]) for n in arriving]
    for at in range(0, 12, cut):
        deltas = [replace(delta(said[n][1], about=session(session_id)), file=said[n][0]) for n in steps[at : at + cut]]
        store.ingest.apply(NS, deltas)
    found = store.sessions.messages(NS, session_id)
    assert [item.id for item in found] == [f"m{n}" for n in (0, 1, 4, 8, 5, 6, 9, 2, 10, 3, 7, 11)]
    assert [item.seq for item in found] == sorted({item.seq for item in found})


@pytest.mark.requirement("STORE-8")
def test_namespaces_see_nothing_of_each_other(store: Store) -> None:
    other = Namespace("team")
    store.ingest.apply(NS, [delta(message("m1", 1, "secretive words"), about=session(title="Mine"))])
    store.ingest.apply(other, [delta(message("m1", 1, "public words"), about=session(title="Theirs"))])
    assert [row.session.title for row in store.sessions.find(NS, SessionFilter(), 9)] == ["Mine"]
    assert [row.session.title for row in store.sessions.find(other, SessionFilter(), 9)] == ["Theirs"]
    assert store.text.match(other, Term("secretive"), DocFilter(), 9) == []
    assert len(store.text.match(NS, Term("secretive"), DocFilter(), 9)) == 1
    assert [part.text for item in store.sessions.messages(other, A) for part in item.parts] == ["public words"]
    assert next(iter(store.text.scan_texts(other, DocFilter())))[1] == "public words"


@pytest.mark.requirement("STORE-9")
def test_matching_understands_all_any_except_phrase_and_prefix(store: Store) -> None:
    store.ingest.apply(
        NS, [delta(message("m1", 1, "red green blue"), message("m2", 2, "red blue green"), message("m3", 3, "redder"))]
    )
    ids = {
        doc.message_id: doc.id
        for doc in store.text.docs(NS, [hit.doc for hit in store.text.match(NS, Prefix("re"), DocFilter(), 9)])
    }

    def found(expression: object) -> set[str | None]:
        hits = store.text.match(NS, expression, DocFilter(), 9)  # type: ignore[arg-type]
        return {name for name, doc in ids.items() if doc in {hit.doc for hit in hits}}

    assert found(AllOf((Term("red"), Term("green")))) == {"m1", "m2"}
    assert found(AnyOf((Term("redder"), Term("nothing")))) == {"m3"}
    assert found(Phrase(("red", "green"))) == {"m1"}
    assert found(Phrase(("red", "gre"), prefix=True)) == {"m1"}
    assert found(Except(Term("red"), Phrase(("blue", "green")))) == {"m1"}
    assert found(Term('"; DROP TABLE')) == set()


@pytest.mark.requirement("STORE-10")
def test_filters_limit_documents_and_sessions(store: Store) -> None:
    tool = call(output="word", status=ToolStatus.ERROR)
    store.ingest.apply(NS, [delta(message("m1", 1, "word"), about=session(directory="/src/shop", agent="build"))])
    answer = message("m2", 1, role=Role.ASSISTANT, of="ses_b", parts=(tool_part("m2", 0, tool),), model="opus-5")
    store.ingest.apply(NS, [delta(answer, about=session("ses_b", directory="/src/other", git_branch="main"))])

    def sessions(where: DocFilter) -> set[str]:
        hits = store.text.match(NS, Term("word"), where, 9)
        return {doc.session_id for doc in store.text.docs(NS, [hit.doc for hit in hits])}

    assert sessions(DocFilter()) == {A, B}
    assert sessions(DocFilter(session=SessionFilter(project="shop"))) == {A}
    assert sessions(DocFilter(session=SessionFilter(agent="BUILD"))) == {A}
    assert sessions(DocFilter(session=SessionFilter(model="opus"))) == {B}
    assert sessions(DocFilter(session=SessionFilter(branch="main"))) == {B}
    assert sessions(DocFilter(roles=(Role.USER,))) == {A}
    assert sessions(DocFilter(tool="bash")) == {B}
    assert sessions(DocFilter(is_error=True)) == {B}
    assert sessions(DocFilter(after=NOON + 5000)) == set()


@pytest.mark.requirement("STORE-11")
def test_titles_are_documents_of_their_own_and_follow_renaming(store: Store) -> None:
    store.ingest.apply(NS, [delta(message("m1", 1, "x"), about=session(title="first name"))])
    store.ingest.apply(NS, [delta(about=session(title="second name"))])
    assert store.text.match(NS, Term("first"), DocFilter(), 9) == []
    (hit,) = store.text.match(NS, Term("second"), DocFilter(), 9)
    (doc,) = store.text.docs(NS, [hit.doc])
    assert (doc.session_id, doc.part_id) == (A, None)
    assert store.text.doc_texts(NS, [hit.doc]) == {hit.doc: "second name"}


@pytest.mark.requirement("STORE-12")
def test_a_forks_copies_are_read_in_the_fork_and_found_in_the_origin(store: Store) -> None:
    shared = [("m1", "common start"), ("m2", "common answer")]
    store.ingest.apply(
        NS,
        [
            delta(
                *(message(i, n, text, of="ses_b") for n, (i, text) in enumerate(shared)),
                message("m9", 9, "own", of="ses_b"),
            )
        ],
    )
    applied = store.ingest.apply(NS, [delta(*(message(i, n, text) for n, (i, text) in enumerate(shared)))])
    assert applied.overlapping == {(A, B)}
    assert store.ingest.overlaps(NS) == [(A, B)]
    store.ingest.set_lineage(NS, B, forked_from=A, fork_point="m2", inherited=["m1", "m2"])
    store.ingest.clear_overlaps(NS, [(A, B)])
    assert store.ingest.overlaps(NS) == []
    hits = store.text.match(NS, Term("common"), DocFilter(), 9)
    assert {doc.session_id for doc in store.text.docs(NS, [hit.doc for hit in hits])} == {A}
    assert [item.inherited_from for item in store.sessions.messages(NS, B)] == [A, A, None]
    assert store.sessions.totals(NS, B).messages == 1
    assert store.sessions.totals(NS, B, inherited=True).messages == 2
    row = store.sessions.get(NS, B)
    assert row is not None
    assert (row.session.kind, row.session.forked_from, row.session.fork_point) == (SessionKind.FORK, A, "m2")
    assert store.sessions.of_message(NS, "m1") == A


@pytest.mark.requirement("STORE-13")
def test_reverted_marks_come_and_go(store: Store) -> None:
    store.ingest.apply(NS, [delta(message("m1", 1, "a"), message("m2", 2, "b"), reverted=(MessageId("m2"),))])
    assert [item.reverted for item in store.sessions.messages(NS, A)] == [False, True]
    store.ingest.apply(NS, [delta(reverted=(), reverted_is_complete=True)])
    assert [item.reverted for item in store.sessions.messages(NS, A)] == [False, False]


@pytest.mark.requirement("STORE-14")
def test_a_cursor_moves_with_the_records_it_stands_for(store: Store) -> None:
    source = ("reader", "/somewhere")
    bad = SkippedRecord("f.jsonl", "12", "not JSON")
    store.ingest.apply(
        NS,
        [delta(message("m1", 1, "x"))],
        source=source,
        cursor={"f.jsonl": {"offset": 9}},
        skipped=[bad],
        redactions={"token": 2},
    )
    store.ingest.apply(
        NS, [], source=source, cursor={"g.jsonl": 1, "f.jsonl": None}, skipped=[bad], redactions={"token": 1}
    )
    assert store.sources.cursor(NS, *source) == {"g.jsonl": 1}
    (state,) = store.sources.states(NS)
    assert (state.skipped, state.redactions, state.sessions, state.messages) == ((bad,), {"token": 3}, 1, 1)
    assert store.sources.sessions_of_source(NS, *source) == {A}
    assert store.sources.sources_of_session(NS, A) == [source]


@pytest.mark.requirement("STORE-15")
def test_substrings_are_found_before_and_after_the_trigrams_are_filled(store: Store) -> None:
    store.ingest.apply(NS, [delta(message("m1", 1, "reconcilequixoticledger x"))])
    before = store.text.surfaces_containing(NS, "xoticled", 5)
    while store.text.advance_trigrams():
        pass
    assert before == store.text.surfaces_containing(NS, "xoticled", 5) == [("reconcilequixoticledger",) * 2]
    assert store.text.surfaces_containing(NS, "x_ticled", 5) == []


@pytest.mark.requirement("STORE-16")
def test_lists_page_by_update_without_gaps_or_repeats(store: Store) -> None:
    store.ingest.apply(NS, [delta(about=session(f"ses_{n}", updated_at=NOON + n // 2)) for n in range(7)])
    seen: list[str] = []
    after: tuple[int, str] | None = None
    while rows := store.sessions.find(NS, SessionFilter(), 3, after):
        seen += [row.session.id for row in rows]
        after = (rows[-1].session.updated_at or 0, rows[-1].session.id)
    assert seen == [f"ses_{n}" for n in (6, 5, 4, 3, 2, 1, 0)]
    assert store.sessions.count(NS, SessionFilter()) == 7


@pytest.mark.requirement("STORE-18")
def test_rebuilding_the_index_finds_the_same(store: Store) -> None:
    store.ingest.apply(
        NS, [delta(message("m1", 1, "alpha beta"), message("m2", 2, "beta"), about=session(title="gamma"))]
    )
    before = [
        [hit.doc for hit in store.text.match(NS, Term(t), DocFilter(), 9, order=Order.NEWEST)]
        for t in ("beta", "gamma")
    ]
    store.text.rebuild()
    after = [
        [hit.doc for hit in store.text.match(NS, Term(t), DocFilter(), 9, order=Order.NEWEST)]
        for t in ("beta", "gamma")
    ]
    assert before == after


@pytest.mark.requirement("STORE-19")
def test_many_threads_read_and_write_at_once(store: Store) -> None:
    problems: list[BaseException] = []

    def work(n: int) -> None:
        try:
            for k in range(10):
                store.ingest.apply(NS, [delta(message(f"m{n}-{k}", k, "busy words", of=f"ses_{n}"))])
                store.text.match(NS, Term("busy"), DocFilter(), 5)
                store.sessions.find(NS, SessionFilter(), 5)
        except BaseException as problem:  # noqa: BLE001 - handed to the main thread, which fails with it
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert store.sessions.count(NS, SessionFilter()) == 6
    assert sum(row.counts.messages for row in store.sessions.find(NS, SessionFilter(), 9)) == 60


@pytest.mark.requirement("STORE-20")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(TEXTS, min_size=1, max_size=5), blob=JSON)
def test_any_text_and_any_json_survives_the_store(store: Store, texts: list[str], blob: object) -> None:
    """Exactly; half a surrogate pair, which no encoding carries, becomes U+FFFD."""
    number = len(store.sessions.find(NS, SessionFilter(), 1_000))
    session_id = SessionId(f"ses_any_{number}")
    tool = replace(call(output=texts[0], status=ToolStatus.COMPLETED), input={"given": blob})
    parts = (*(text_part("m1", text, n) for n, text in enumerate(texts)), tool_part("m1", len(texts), tool))
    said = message("m1", 1, role=Role.ASSISTANT, parts=parts, of=session_id, metadata={"raw": blob})
    store.ingest.apply(NS, [delta(said, about=session(session_id, metadata={"raw": blob}))])
    found = store.sessions.get_message(NS, session_id, "m1")
    row = store.sessions.get(NS, session_id)
    assert found is not None
    assert row is not None
    kept = {part.seq: part.text for part in found.parts}
    assert [kept[n] for n in range(len(texts))] == [whole(text) for text in texts]
    tools = [part.tool for part in found.parts if part.tool]
    assert tools[0].output == whole(texts[0])
    for value in (found.metadata["raw"], row.session.metadata["raw"], tools[0].input["given"]):
        assert same(value, blob)
