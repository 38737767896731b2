"""What every store must do for finding words: match, limit, follow titles, find substrings."""

from __future__ import annotations

import pytest

from ovillo.model.records import (
    DEFAULT_NAMESPACE,
    Namespace,
    Role,
    SessionId,
    ToolStatus,
)
from ovillo.model.sessions import SessionFilter
from ovillo.store.documents import length_norm
from ovillo.store.protocol import AllOf, AnyOf, DocFilter, Except, Order, Phrase, Prefix, Store, Term, TextStore
from tests.builders import NOON, call, delta, message, session, tool_part

NS = DEFAULT_NAMESPACE
A, B = SessionId("ses_a"), SessionId("ses_b")


@pytest.fixture
def text(store: Store) -> TextStore:
    return store.text


@pytest.mark.requirement("STORE-9")
def test_matching_understands_all_any_except_phrase_and_prefix(store: Store, text: TextStore) -> None:
    store.ingest.apply(
        NS, [delta(message("m1", 1, "red green blue"), message("m2", 2, "red blue green"), message("m3", 3, "redder"))]
    )
    ids = {
        doc.message_id: doc.id
        for doc in text.docs(NS, [hit.doc for hit in text.match(NS, Prefix("re"), DocFilter(), 9)])
    }

    def found(expression: object) -> set[str | None]:
        hits = text.match(NS, expression, DocFilter(), 9)  # type: ignore[arg-type]
        return {name for name, doc in ids.items() if doc in {hit.doc for hit in hits}}

    assert found(AllOf((Term("red"), Term("green")))) == {"m1", "m2"}
    assert found(AnyOf((Term("redder"), Term("nothing")))) == {"m3"}
    assert found(Phrase(("red", "green"))) == {"m1"}
    assert found(Phrase(("red", "gre"), prefix=True)) == {"m1"}
    assert found(Except(Term("red"), Phrase(("blue", "green")))) == {"m1"}
    assert found(Term('"; DROP TABLE')) == set()


@pytest.mark.requirement("STORE-10")
def test_filters_limit_documents_and_sessions(store: Store, text: TextStore) -> None:
    tool = call(output="word", status=ToolStatus.ERROR)
    store.ingest.apply(NS, [delta(message("m1", 1, "word"), about=session(directory="/src/shop", agent="build"))])
    answer = message("m2", 1, role=Role.ASSISTANT, of="ses_b", parts=(tool_part("m2", 0, tool),), model="opus-5")
    store.ingest.apply(NS, [delta(answer, about=session("ses_b", directory="/src/other", git_branch="main"))])

    def sessions(where: DocFilter) -> set[str]:
        hits = text.match(NS, Term("word"), where, 9)
        return {doc.session_id for doc in text.docs(NS, [hit.doc for hit in hits])}

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
def test_titles_are_documents_of_their_own_and_follow_renaming(store: Store, text: TextStore) -> None:
    store.ingest.apply(NS, [delta(message("m1", 1, "x"), about=session(title="first name"))])
    store.ingest.apply(NS, [delta(about=session(title="second name"))])
    assert text.match(NS, Term("first"), DocFilter(), 9) == []
    (hit,) = text.match(NS, Term("second"), DocFilter(), 9)
    (doc,) = text.docs(NS, [hit.doc])
    assert (doc.session_id, doc.part_id) == (A, None)
    assert text.doc_texts(NS, [hit.doc]) == {hit.doc: "second name"}


@pytest.mark.requirement("STORE-15")
def test_substrings_are_found_before_and_after_the_index_catches_up(store: Store, text: TextStore) -> None:
    store.ingest.apply(NS, [delta(message("m1", 1, "reconcilequixoticledger x"))])
    before = text.surfaces_containing(NS, "xoticled", 5)
    while text.catch_up():
        pass
    assert before == text.surfaces_containing(NS, "xoticled", 5) == [("reconcilequixoticledger",) * 2]
    assert text.surfaces_containing(NS, "x_ticled", 5) == []


@pytest.mark.requirement("STORE-18")
def test_rebuilding_the_index_finds_the_same(store: Store, text: TextStore) -> None:
    store.ingest.apply(
        NS, [delta(message("m1", 1, "alpha beta"), message("m2", 2, "beta"), about=session(title="gamma"))]
    )
    before = [
        [hit.doc for hit in text.match(NS, Term(t), DocFilter(), 9, order=Order.NEWEST)] for t in ("beta", "gamma")
    ]
    text.rebuild()
    after = [
        [hit.doc for hit in text.match(NS, Term(t), DocFilter(), 9, order=Order.NEWEST)] for t in ("beta", "gamma")
    ]
    assert before == after


@pytest.mark.requirement("STORE-9")
def test_a_single_term_is_counted_and_the_newer_document_has_the_larger_recency(store: Store, text: TextStore) -> None:
    store.ingest.apply(NS, [delta(message("m1", 1, "oak ash oak elm oak"), about=session(title="elm"))])
    store.ingest.apply(NS, [delta(message("m2", 2, "oak ash ash ash ash"))])
    store.ingest.apply(NS, [delta(message(f"x{i}", i, f"other{i}"), about=session("ses_b")) for i in range(3, 9)])
    names = {
        doc.id: doc.message_id
        for doc in text.docs(NS, [hit.doc for hit in text.match(NS, Prefix("oak"), DocFilter(), 9)])
    }
    hits = {names[hit.doc]: hit for hit in text.match(NS, Term("oak"), DocFilter(), 9)}
    assert hits["m1"].density == pytest.approx(3 * hits["m2"].density, rel=0.05)
    assert hits["m2"].recency > hits["m1"].recency
    newest = text.match(NS, Term("oak"), DocFilter(), 9, order=Order.NEWEST)
    assert [names[hit.doc] for hit in newest] == ["m2", "m1"]
    once = 1 / length_norm(5, text.stats(NS).average_length)
    assert [hit.density for hit in newest] == pytest.approx([once, once])


@pytest.mark.requirement("STORE-9")
def test_where_several_words_are_asked_for_a_document_counts_by_its_length_however_long(
    store: Store, text: TextStore
) -> None:
    for length in (2, 200, 20_000):
        words = ["oak", *(f"ash{number}" for number in range(length - 1))]
        store.ingest.apply(NS, [delta(message(f"m{length}", length, " ".join(words)))])
    average = text.stats(NS).average_length
    for where in (DocFilter(), DocFilter(roles=(Role.USER,))):
        hits = text.match(NS, AnyOf((Term("oak"), Term("elm"))), where, 9, order=Order.NEWEST)
        assert [hit.density for hit in hits] == pytest.approx(
            [1 / length_norm(length, average) for length in (20_000, 200, 2)]
        )


@pytest.mark.requirement("STORE-9")
def test_neighbours_are_what_was_said_in_the_messages_next_to_it_with_their_distance(
    store: Store, text: TextStore
) -> None:
    ran = message("t", 4, parts=(tool_part("t", 0, call("ls", "oak")),))
    said = [message(f"m{number}", number, f"word{number}") for number in (1, 2, 7, 8, 9)]
    store.ingest.apply(NS, [delta(*said, ran)])
    store.ingest.apply(NS, [delta(message("other", 3, "word3", of="ses_b"), about=session("ses_b"))])
    names = {
        doc.id: doc.message_id
        for doc in text.docs(NS, [hit.doc for hit in text.match(NS, Prefix("word"), DocFilter(), 9)])
    }
    ids = {name: doc for doc, name in names.items()}
    beside = text.neighbours(NS, [ids["m2"], ids["m9"]], 2)
    assert {(names[doc], steps) for doc, steps in beside[ids["m2"]]} == {("m1", 1), ("m7", 2)}
    assert {(names[doc], steps) for doc, steps in beside[ids["m9"]]} == {("m8", 1), ("m7", 2)}


@pytest.mark.requirement("STORE-9")
def test_an_outline_says_of_a_document_what_its_position_says(store: Store, text: TextStore) -> None:
    ran = message("t", 2, parts=(tool_part("t", 0, call("ls", "word")),))
    for namespace in (NS, Namespace("team")):
        store.ingest.apply(namespace, [delta(message("m1", 1, "word one"), ran, about=session(title="word"))])
    ids = [hit.doc for hit in text.match(NS, Term("word"), DocFilter(), 9)]
    asked = [*ids, 10**9, ids[0]]
    for _ in range(2):
        outlines = text.outlines(NS, asked)
        assert len(ids) == 3
        assert [outline.id for outline in outlines] == [*ids, ids[0]]
        for outline, doc in zip(outlines, text.docs(NS, asked), strict=True):
            whole = doc if doc.part_id is not None else doc._replace(length=0)
            assert outline == tuple(getattr(whole, name) for name in outline._fields)
        assert text.outlines(Namespace("team"), asked) == []
    store.ingest.apply(NS, [delta(message("m1", 1, "word one two"))])
    assert {outline.length for outline in text.outlines(NS, ids)} == {
        doc.length for doc in text.docs(NS, ids) if doc.part_id
    } | {0}


@pytest.mark.requirement("STORE-8")
def test_documents_of_another_namespace_are_nobodys(store: Store, text: TextStore) -> None:
    other = Namespace("team")
    store.ingest.apply(
        other, [delta(message("m1", 1, "theirs one"), message("m2", 2, "two"), about=session(title="T"))]
    )
    store.ingest.apply(NS, [delta(message("m1", 1, "ours"))])
    theirs = [hit.doc for word in ("theirs", "t") for hit in text.match(other, Term(word), DocFilter(), 9)]
    assert len(text.docs(other, theirs)) == len(text.doc_texts(other, theirs)) == 2
    assert text.docs(NS, theirs) == []
    assert text.doc_texts(NS, theirs) == {}
    assert not any(text.neighbours(NS, theirs, 1).values())
    assert text.neighbours(other, theirs, 1)[theirs[0]] != []
    assert text.allowed(NS, theirs, DocFilter()) == set()
    assert text.document_frequency(NS, ["theirs"]) == {"theirs": 0}


@pytest.mark.requirement("STORE-9")
def test_what_was_said_around_a_message_comes_in_order_without_the_words_of_tools(
    store: Store, text: TextStore
) -> None:
    said = [message(f"m{i}", i, f"words {i}") for i in range(6)]
    ran = message("t", 6, parts=(tool_part("t", 0, call("ls", "oak")),))
    store.ingest.apply(NS, [delta(*said, ran, message("m7", 7, "the end"))])
    around = text.said_around(NS, A, 3, 2, 10)
    assert [doc.message_id for doc in around] == ["m1", "m2", "m3", "m4", "m5", "m7"]
    assert {doc.session_id for doc in around} == {A}
    assert [doc.message_id for doc in text.said_around(NS, A, 3, 0, 1)] == ["m3"]
    assert text.said_around(Namespace("team"), A, 3, 2, 10) == []


@pytest.mark.requirement("SEARCH-20")
def test_a_filter_lets_through_what_it_names_now_however_often_it_was_asked(store: Store, text: TextStore) -> None:
    def found(where: SessionFilter) -> int:
        return len(text.match(NS, Term("oak"), DocFilter(session=where), 9))

    here, all_of_it = SessionFilter(source="claude_code"), SessionFilter(after=0)
    for number in range(1, 4):
        store.ingest.apply(
            NS,
            [
                delta(
                    message("m1", 1, "oak", of=f"ses_{number}"), about=session(f"ses_{number}", source="claude_code")
                ),
                delta(message("m2", 1, "oak", of=f"oth_{number}"), about=session(f"oth_{number}", source="codex")),
            ],
        )
        assert [(found(here), found(all_of_it)) for _ in range(3)] == [(number, 2 * number)] * 3


@pytest.mark.requirement("SEARCH-20")
def test_how_many_documents_hold_a_word_is_told_as_it_is_whatever_else_was_written(
    store: Store, text: TextStore
) -> None:
    def held() -> dict[str, int]:
        return text.document_frequency(NS, ["oak", "ash"])

    for number in range(1, 4):
        store.ingest.apply(NS, [delta(message(f"m{number}", number, "oak"))])
        assert [held(), held()] == [{"oak": number, "ash": 0}] * 2
        # No text: what was counted stays.
        store.contexts.switch(NS, "me", f"shop {number}", default="default", preserve=True, at=NOON)
        assert held() == {"oak": number, "ash": 0}
    store.ingest.apply(NS, [delta(message("m4", 4, "ash"))])
    assert held() == {"oak": 3, "ash": 1}
    store.forgetting.forget_session(NS, A, at=NOON)
    assert held() == {"oak": 0, "ash": 0}
