"""Recorded sessions past their days go by themselves where a setting says so; what agents keep stays."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ovillo.app import open_services
from ovillo.interfaces.backend import Backend
from ovillo.interfaces.services import Services
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Namespace, SessionId, SessionType
from ovillo.sessions.drafts import SessionDraft
from tests.builders import delta, message, session
from tests.interfaces.opened import settings_for

DAY_MS = 86_400_000


class Days:
    """A clock that is moved by hand (milliseconds)."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def days() -> Days:
    return Days()


@pytest.fixture
def services(tmp_path: Path, days: Days) -> Iterator[Services]:
    settings = replace(settings_for(tmp_path), retention_days=30, retention={"bugfix": 0, "team/*": 7}, watch=True)
    opened = open_services(settings, days)
    for namespace, name, kind in (
        (NS, "old", SessionType.GENERAL),
        (NS, "bug", SessionType.BUGFIX),
        (Namespace("team"), "theirs", SessionType.GENERAL),
    ):
        opened.recorder.create(namespace, SessionDraft(id=name, type=kind))
    opened.store.ingest.apply(NS, [delta(message("m1", 1, "mirrored", of="agent"), about=session("agent"))])
    yield opened
    opened.close()


def there(services: Services, namespace: Namespace, *names: str) -> list[str]:
    return [name for name in names if services.store.sessions.get(namespace, SessionId(name))]


@pytest.mark.requirement("MEMO-20")
def test_what_is_past_its_days_goes_and_everything_else_stays(services: Services, days: Days) -> None:
    days.now += 8 * DAY_MS
    assert services.retention.run(NS) == 0
    assert services.retention.run(Namespace("team")) == 1
    days.now += 23 * DAY_MS
    assert services.retention.run(NS) == 1
    assert there(services, NS, "old", "bug", "agent") == ["bug", "agent"]
    assert there(services, Namespace("team"), "theirs") == []
    (record,) = services.audit.entries(NS)
    assert (record.entry.channel, record.entry.session_id) == ("retention", "old")


@pytest.mark.requirement("MEMO-20")
def test_a_server_does_it_without_being_asked(services: Services, days: Days) -> None:
    days.now += 31 * DAY_MS
    removed = threading.Event()
    services.store.changes.listen(lambda: there(services, NS, "old") or removed.set())
    backend = Backend(lambda: services)
    backend.start_background()
    try:
        assert removed.wait(30)
    finally:
        backend.stop_background()
    assert there(services, NS, "bug", "agent") == ["bug", "agent"]
