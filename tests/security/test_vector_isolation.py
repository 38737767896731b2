"""Meaning in two namespaces of one server: a small one is answered as if the large one beside it did not exist."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ovillo.app import open_services
from ovillo.interfaces.rest.mount import open_mount
from ovillo.model.records import Namespace
from tests.interfaces.http.guarded import Guarded
from tests.interfaces.http.serving import serving
from tests.interfaces.opened import settings_for
from tests.search.endpoint import endpoint
from tests.search.test_service import said

LARGE, SMALL = Namespace("large"), Namespace("small")
#: To the model of the test the same words as "alpha beta" and so on, which no text holds: only meaning finds anything.
QUESTION = "ahpla ateb"
#: Nearer to the question than anything in the small namespace, and more of them than the store ever rescores.
CROWD = 1_300


@contextmanager
def two_namespaces(home: Path) -> Iterator[Guarded]:
    """A server that embeds in the background; ``admin`` is of the small namespace, ``foreign`` of the large one."""
    with endpoint() as model:
        wanted = replace(
            settings_for(home, auth="apikey"),
            embedder="openai",
            embedder_url=model.url,
            embedder_model="letters",
            watch=True,
        )
        services = open_services(wanted)
        services.store.ingest.apply(
            LARGE, [said(f"ses_l{i}", "alpha beta alpha beta alpha beta") for i in range(CROWD)]
        )
        services.store.ingest.apply(
            SMALL, [said("ses_s1", "alpha beta gamma epsilon"), said("ses_s2", "delta epsilon zeta and so on")]
        )
        large, small = (services.keys.create(name, name, role="admin")[1] for name in (LARGE, SMALL))
        try:
            with serving(wanted, open_mount, services=services) as site:
                yield Guarded(site, services, small, small, small, large)
        finally:
            services.close()


def metrics(app: Guarded, key: str) -> Any:
    return app.ask(key, "GET", "/api/status?include_metrics=true").json["metrics"]


def embedded(app: Guarded, key: str) -> Any:
    """Once everything of this namespace has its vectors."""
    waited = threading.Event()
    for _ in range(600):
        found = metrics(app, key)
        if found["embeddedTexts"] >= found["embeddableTexts"] > 0:
            return found
        waited.wait(0.05)
    pytest.fail(f"not embedded: {found}")


@pytest.mark.requirement("SEARCH-20")
def test_a_small_namespace_finds_by_meaning_beside_a_large_one_and_learns_nothing_of_it(tmp_path: Path) -> None:
    with two_namespaces(tmp_path) as app:
        ours, theirs = embedded(app, app.admin), embedded(app, app.foreign)
        assert (ours["embeddedTexts"], ours["embeddableTexts"]) == (2, 2)
        assert (theirs["embeddedTexts"], theirs["embeddableTexts"]) == (CROWD, CROWD)
        found = app.ask(app.admin, "GET", "/api/search?query=" + QUESTION.replace(" ", "+")).json
        assert found["sessions"][0]["id"] == "ses_s1"
        assert {session["id"] for session in found["sessions"]} <= {"ses_s1", "ses_s2"}
        assert found["embedded"] == 1.0
