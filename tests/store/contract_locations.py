"""What every store must do for the places where sessions took place."""

from __future__ import annotations

import pytest

from ovillo.model.records import DEFAULT_NAMESPACE, Namespace
from ovillo.model.sessions import KnownLocation, SessionFilter, SessionLocation
from ovillo.store.protocol import DocFilter, Store, Term
from tests.builders import delta, message, session

NS = DEFAULT_NAMESPACE


def put(store: Store, number: int, directory: str | None, project: str | None = None, **fields: object) -> None:
    about = session(f"ses_{number}", directory=directory, project_id=project, **fields)
    store.ingest.apply(NS, [delta(message(f"m{number}", 1, "thread", of=about.id), about=about)])


@pytest.mark.requirement("STORE-47")
def test_places_are_told_once_for_each_client_and_work_tree(store: Store) -> None:
    put(store, 1, "/w/shop")
    put(store, 2, "/w/shop", git_branch="main")
    put(store, 3, "/w/shop", "p1", worktree="/w")
    put(store, 4, None, source="codex")
    store.ingest.apply(Namespace("team"), [delta(about=session("ses_a", directory="/theirs"))])
    assert store.sessions.locations(NS) == [
        KnownLocation(SessionLocation(), "codex", None, False, 1),
        KnownLocation(SessionLocation("/w/shop"), "opencode", None, True, 2),
        KnownLocation(SessionLocation("/w/shop", "p1"), "opencode", "/w", False, 1),
    ]


@pytest.mark.requirement("STORE-47")
def test_sessions_and_their_texts_are_found_by_place(store: Store) -> None:
    put(store, 1, "/w/shop")
    put(store, 2, "/w/shop", "p1")
    put(store, 3, None)
    for places, wanted in (
        ((SessionLocation("/w/shop"),), {"ses_1"}),
        ((SessionLocation("/w/shop", "p1"), SessionLocation()), {"ses_2", "ses_3"}),
        ((), set()),
        (None, {"ses_1", "ses_2", "ses_3"}),
    ):
        where = SessionFilter(locations=places)
        assert {row.session.id for row in store.sessions.find(NS, where, 9)} == wanted
        docs = [found.doc for found in store.text.match(NS, Term("thread"), DocFilter(where), 9)]
        assert {doc.session_id for doc in store.text.docs(NS, docs)} == wanted
