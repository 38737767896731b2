"""The feed of changes: who hears what, from where on, and how much waits for a listener."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ovillo.app import open_services
from ovillo.interfaces.services import Services
from ovillo.model.errors import InvalidInput
from ovillo.model.records import DEFAULT_NAMESPACE, Namespace, Role, SessionId
from ovillo.sessions.drafts import MessageDraft, SessionDraft
from ovillo.sessions.feed import Event, Subscription
from ovillo.settings import Settings

OTHER = Namespace("other")


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    opened = open_services(
        Settings(data_dir=tmp_path, home=tmp_path, embedder="none", watch=False, summarize=False, redaction="off")
    )
    yield opened
    opened.close()


class Listener:
    def __init__(self, services: Services, namespace: Namespace = DEFAULT_NAMESPACE, **how: object) -> None:
        self._services = services
        self._woken: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.subscription: Subscription = services.feed.subscribe(
            namespace,
            lambda: self._woken.put(None),
            **how,  # type: ignore[arg-type]
        )
        self.heard: list[Event] = []

    def hear(self, count: int) -> list[Event]:
        """The next ``count`` messages."""
        found: list[Event] = []
        while len(found) < count:
            taken = self.subscription.take(count - len(found))
            self._services.feed.taken(self.subscription)
            found += [event for event in taken if event.kind == "message"]
            if not taken:
                self._woken.get(timeout=30)
        return found

    def until_lost(self) -> None:
        while not self.subscription.lost:
            self._woken.get(timeout=30)


def create(services: Services, session: str, namespace: Namespace = DEFAULT_NAMESPACE) -> None:
    services.recorder.create(namespace, SessionDraft(id=session, name=session))


def append(services: Services, session: str, *texts: str, namespace: Namespace = DEFAULT_NAMESPACE) -> None:
    drafts = [(MessageDraft(Role.USER, text), f"{session} {text}") for text in texts]
    services.recorder.append(namespace, SessionId(session), drafts).result()


def texts(events: list[Event]) -> list[str | None]:
    return [event.message.parts[0].text if event.message else None for event in events]


@pytest.mark.requirement("SYNC-4")
def test_a_listener_hears_everything_from_its_cursor_on_once_and_in_order(services: Services) -> None:
    create(services, "a")
    start = services.store.changes.last(DEFAULT_NAMESPACE)
    past = [f"past {number}" for number in range(40)]
    append(services, "a", *past)
    # The backlog is longer than what may wait: a listener that asked for the past is waited for.
    listener = Listener(services, cursor=start, capacity=7)
    assert texts(listener.hear(40)) == past
    append(services, "a", "now")
    assert texts(listener.hear(1)) == ["now"]
    assert not listener.subscription.lost


@pytest.mark.requirement("SYNC-5")
def test_a_listener_that_does_not_take_is_cut_off_and_keeps_nothing(services: Services) -> None:
    create(services, "a")
    slow, swift = Listener(services, capacity=5), Listener(services, capacity=100)
    append(services, "a", *[str(number) for number in range(30)])
    assert texts(swift.hear(30)) == [str(number) for number in range(30)]
    slow.until_lost()
    assert slow.subscription.take() == []


@pytest.mark.requirement("SYNC-8")
def test_nobody_hears_of_another_namespace(services: Services) -> None:
    create(services, "mine")
    create(services, "theirs", OTHER)
    mine, theirs = Listener(services), Listener(services, OTHER)
    append(services, "theirs", "secret", namespace=OTHER)
    append(services, "mine", "own")
    assert texts(mine.hear(1)) == ["own"]
    assert texts(theirs.hear(1)) == ["secret"]
    assert [event.session_id for event in mine.subscription.take()] == []


@pytest.mark.requirement("SYNC-4")
def test_one_session_alone_can_be_followed(services: Services) -> None:
    for session in ("a", "b"):
        create(services, session)
    listener = Listener(services, session_ids=frozenset({SessionId("b")}))
    append(services, "a", "not this")
    append(services, "b", "this")
    assert texts(listener.hear(1)) == ["this"]


@pytest.mark.requirement("SYNC-6")
def test_what_another_store_on_the_same_file_commits_is_heard(services: Services) -> None:
    create(services, "a")
    listener = Listener(services)
    other = open_services(services.settings)
    try:
        append(other, "a", "from elsewhere")
    finally:
        other.close()
    assert texts(listener.hear(1)) == ["from elsewhere"]


@pytest.mark.requirement("SYNC-4")
def test_a_cursor_of_another_store_is_refused(services: Services) -> None:
    with pytest.raises(InvalidInput, match="newest change is 0"):
        services.feed.subscribe(DEFAULT_NAMESPACE, lambda: None, cursor=5)


@pytest.mark.requirement("SYNC-9")
def test_the_thread_ends_with_its_last_listener_and_begins_again(services: Services) -> None:
    create(services, "a")
    for text in ("one", "two"):
        listener = Listener(services)
        append(services, "a", text)
        assert texts(listener.hear(1)) == [text]
        (thread,) = [each for each in threading.enumerate() if each.name == "ovillo-feed"]
        services.feed.unsubscribe(listener.subscription)
        thread.join(10)
        assert not thread.is_alive()
    last = Listener(services)
    services.close()
    last.until_lost()


@pytest.mark.requirement("SYNC-1")
def test_a_caller_that_gives_up_takes_nobody_along(services: Services) -> None:
    create(services, "a")
    given_up = services.recorder.append(DEFAULT_NAMESPACE, SessionId("a"), [(MessageDraft(Role.USER, "given up"), "k")])
    assert given_up.cancel() is False
    append(services, "a", "next")
    found = services.store.sessions.messages(DEFAULT_NAMESPACE, SessionId("a"))
    assert [message.parts[0].text for message in found] == ["given up", "next"]
