"""What every store must do for links between sessions. A store's own test file imports all of this."""

from __future__ import annotations

import pytest

from ovillo.model.coordination import Link, SharedFile
from ovillo.model.errors import NotFound
from ovillo.model.records import DEFAULT_NAMESPACE, Namespace, SessionId, ToolCall, ToolStatus
from ovillo.store.protocol import LinkStore, Store
from tests.builders import delta, message, session, text_part, tool_part

NS = DEFAULT_NAMESPACE
A, B, C = SessionId("ses_a"), SessionId("ses_b"), SessionId("ses_c")


@pytest.fixture
def links(store: Store) -> LinkStore:
    return store.links


def three(store: Store, namespace: Namespace = NS) -> None:
    store.ingest.apply(namespace, [delta(message(f"m-{x}", 1, f"hello {x}", of=x)) for x in (A, B, C)])


def editing(of: SessionId, *paths: str):
    tools = [
        ToolCall("edit", f"c{n}", {"file_path": path}, "", status=ToolStatus.COMPLETED) for n, path in enumerate(paths)
    ]
    parts = (text_part(f"m-{of}", "go"), *(tool_part(f"m-{of}", n, tool) for n, tool in enumerate(tools, 1)))
    return delta(message(f"m-{of}", 1, parts=parts, of=of), about=session(of))


@pytest.mark.requirement("LINKS-1")
def test_a_link_is_kept_once_and_found_from_both_ends(store: Store, links: LinkStore) -> None:
    three(store)
    first = Link(A, B, "impacts", ("validate_card",), None, "made", 1)
    second = Link(A, B, "impacts", ("process_payment",), "why", "made", 2)
    assert links.put(NS, first)
    assert not links.put(NS, second)
    assert links.put(NS, Link(A, B, "continues", created_at=3))
    assert links.of(NS, [A]) == links.of(NS, [B]) == [second, Link(A, B, "continues", created_at=3)]
    assert links.of(NS, [C]) == []


@pytest.mark.requirement("LINKS-4")
def test_removing_a_session_removes_its_links_in_both_directions(store: Store, links: LinkStore) -> None:
    three(store)
    links.put(NS, Link(A, B, "impacts"))
    links.put(NS, Link(B, C, "continues"))
    links.put(NS, Link(C, A, "relates_to"))
    store.recording.delete(NS, B, at=5)
    assert [(x.from_id, x.to_id) for x in links.of(NS, [A, C])] == [(C, A)]


@pytest.mark.requirement("LINKS-4")
def test_links_are_removed_by_relationship_or_all_together(store: Store, links: LinkStore) -> None:
    three(store)
    for word in ("impacts", "continues", "blocks"):
        links.put(NS, Link(A, B, word))
    assert links.remove(NS, A, B, "impacts", at=2) == 1
    assert links.remove(NS, A, B, None, at=3) == 2
    assert links.remove(NS, B, A, None, at=3) == 0
    assert links.of(NS, [A]) == []


@pytest.mark.requirement("LINKS-10")
def test_links_are_logged_change_the_version_and_stay_in_their_namespace(store: Store, links: LinkStore) -> None:
    three(store)
    other = Namespace("other")
    three(store, other)
    before, versions = store.changes.last(NS), store.sessions.get_many(NS, [A, B])
    links.put(NS, Link(A, B, "impacts", created_at=7))
    assert [(x.kind, x.ref, x.at) for x in store.changes.since(NS, before, 9)] == [("link", "ses_a/impacts/ses_b", 7)]
    assert all(row.version != versions[key].version for key, row in store.sessions.get_many(NS, [A, B]).items())
    assert links.of(other, [A]) == []
    with pytest.raises(NotFound, match="ses_x"):
        links.put(NS, Link(A, SessionId("ses_x"), "impacts"))


@pytest.mark.requirement("LINKS-6")
def test_a_dismissed_pair_is_known_from_both_sides(store: Store, links: LinkStore) -> None:
    three(store)
    links.dismiss(NS, B, A, at=1)
    links.dismiss(NS, A, B, at=2)
    assert (
        links.dismissed_with(NS, A),
        links.dismissed_with(NS, B),
        links.dismissed_with(NS, C),
    ) == ({B}, {A}, set())
    store.recording.delete(NS, B, at=3)
    assert links.dismissed_with(NS, A) == set()


@pytest.mark.requirement("LINKS-5")
def test_shared_files_come_with_how_many_sessions_touched_them(store: Store, links: LinkStore) -> None:
    store.ingest.apply(NS, [editing(A, "/w/pay.py", "/w/README.md"), editing(B, "/w/pay.py", "/w/README.md")])
    store.ingest.apply(NS, [editing(C, "/w/README.md")])
    assert links.sharing_files(NS, A, 9) == [
        SharedFile(B, "/w/pay.py", 2),
        SharedFile(B, "/w/README.md", 3),
        SharedFile(C, "/w/README.md", 3),
    ]
    assert links.sharing_files(NS, SessionId("ses_x"), 9) == []
    assert links.prompts_of(NS, [A, C], 5) == {A: ["go"], C: ["go"]}
