"""Recording sessions through the service: drafts, limits, redaction, what belongs to others."""

from __future__ import annotations

from pathlib import Path

import pytest

from ovillo.app import open_services
from ovillo.interfaces.services import Services
from ovillo.model.errors import Conflict, InvalidInput, LimitExceeded, NotFound, OvilloError
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Role, SessionId, SessionType, ToolCall
from ovillo.sessions.drafts import MAX_MESSAGE_CHARS, MessageDraft, SessionDraft
from ovillo.settings import Settings
from tests.builders import delta, message

A = SessionId("ses_a")


@pytest.fixture
def services(tmp_path: Path):
    settings = Settings(tmp_path / "data", tmp_path, environment={"HOME": str(tmp_path)}, embedder="none")
    opened = open_services(settings)
    yield opened
    opened.close()


def say(services: Services, text: str, role: Role = Role.USER, key: str | None = None, **fields: object):
    draft = MessageDraft(role, text, **fields)  # type: ignore[arg-type]
    return services.recorder.append(NS, A, [(draft, key or text[:200])]).result(10)[0]


@pytest.mark.requirement("REC-1")
def test_the_same_creation_twice_gives_one_session(services: Services) -> None:
    draft = SessionDraft(id="ses_a", name="Payment", provider="openai", metadata={"feature_id": "PAY-1"})
    first, is_new = services.recorder.create(NS, draft)
    again, second = services.recorder.create(NS, draft)
    assert (is_new, second, again.session) == (True, False, first.session)
    assert services.recorder.create(NS, SessionDraft(id="ses_a"))[1] is False
    with pytest.raises(Conflict, match="another provider"):
        services.recorder.create(NS, SessionDraft(id="ses_a", provider="xai"))


@pytest.mark.requirement("REC-11")
def test_mirrored_sessions_cannot_be_changed_and_the_error_says_what_can(services: Services) -> None:
    services.store.ingest.apply(NS, [delta(message("m1", 1, "mirrored"))])
    for attempt in (
        lambda: say(services, "mine"),
        lambda: services.recorder.update(NS, A, {"title": "mine"}),
        lambda: services.recorder.delete(NS, A),
        lambda: services.recorder.create(NS, SessionDraft(id="ses_a")),
    ):
        with pytest.raises(Conflict, match=r"mirrored from opencode.*link it"):
            attempt()
    assert [m.id for m in services.store.sessions.messages(NS, A)] == ["m1"]


@pytest.mark.requirement("REC-12")
@pytest.mark.parametrize(
    ("draft", "key", "error", "tells"),
    [
        (MessageDraft(Role.USER, ""), "k", InvalidInput, "empty"),
        (MessageDraft(Role.USER, "x" * (MAX_MESSAGE_CHARS + 1)), "k", LimitExceeded, "file"),
        (MessageDraft(Role.USER, "hi"), None, InvalidInput, "idempotency key"),
        (MessageDraft(Role.USER, "hi"), "  ", InvalidInput, "idempotency key"),
        (MessageDraft(Role.USER, "hi"), "k" * 300, InvalidInput, "255"),
        (MessageDraft(Role.USER, "hi", id="a b"), "k", InvalidInput, "printable"),
        (MessageDraft(Role.USER, "hi", id=""), "k", InvalidInput, "printable"),
        (MessageDraft(Role.USER, "hi", created_at=-1), "k", InvalidInput, "Milliseconds"),
    ],
)
def test_a_wrong_message_is_refused_and_nothing_is_stored(
    services: Services, draft: MessageDraft, key: str | None, error: type[OvilloError], tells: str
) -> None:
    services.recorder.create(NS, SessionDraft(id="ses_a"))
    with pytest.raises(error, match=tells):
        services.recorder.append(NS, A, [(draft, key)]).result(10)
    assert services.store.sessions.messages(NS, A) == []


@pytest.mark.requirement("REC-12")
@pytest.mark.parametrize("wrong", ["current", "", "a/b", "with space", "x" * 300, "\x00"])
def test_an_id_that_could_not_be_asked_for_is_refused(services: Services, wrong: str) -> None:
    with pytest.raises(InvalidInput):
        services.recorder.create(NS, SessionDraft(id=wrong))


@pytest.mark.requirement("REC-12")
def test_appending_to_nothing_names_the_session(services: Services) -> None:
    with pytest.raises(NotFound, match="ses_a"):
        say(services, "hello")


@pytest.mark.requirement("REC-13")
def test_secrets_never_reach_the_store(services: Services) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    draft = SessionDraft(id="ses_a", name=f"use {token}", metadata={"note": token})
    services.recorder.create(NS, draft)
    assert services.recorder.create(NS, draft)[1] is False
    call = ToolCall("bash", "c1", {"command": f"curl -H 'Authorization: token {token}'"}, f"used {token}")
    say(services, f"my token is {token}", tool_calls=[call])
    services.recorder.update(NS, A, {"title": f"again {token}"})
    row = services.recorder.get(NS, A)
    assert token not in repr((row, services.store.sessions.messages(NS, A)))
    assert "[redacted:github" in repr(services.store.sessions.messages(NS, A))


@pytest.mark.requirement("REC-14")
def test_a_session_without_title_and_type_gets_both_from_what_is_said(services: Services) -> None:
    services.recorder.create(NS, SessionDraft(id="ses_a"))
    say(
        services,
        "Hay un error en la función de pago: NullPointerException en payment_processor.py línea 45. Arréglalo.",
    )
    services.summary_worker.settle(NS, A)
    session = services.recorder.get(NS, A).session
    assert session.type is SessionType.BUGFIX
    assert session.title
    assert "pago" in session.title


@pytest.mark.requirement("REC-14")
def test_a_title_and_type_that_somebody_gave_stay(services: Services) -> None:
    services.recorder.create(NS, SessionDraft(id="ses_a", name="Mine", type=SessionType.REVIEW))
    say(services, "There is a bug: the login crashes with a KeyError. Please fix it.")
    services.summary_worker.settle(NS, A)
    session = services.recorder.get(NS, A).session
    assert (session.title, session.type) == ("Mine", SessionType.REVIEW)
