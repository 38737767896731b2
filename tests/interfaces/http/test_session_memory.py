"""Each session may choose how it is kept short (mcp-v6-roadmap, Feature 1), through every door that makes one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ovillo.app import open_services
from ovillo.interfaces.rest import ENDPOINTS
from ovillo.interfaces.services import Services
from ovillo.interfaces.tools.registry import Registry
from ovillo.model.records import SessionId
from ovillo.security.principals import LOCAL
from tests.interfaces.http.serving import Site, serving
from tests.interfaces.opened import settings_for


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    opened = open_services(settings_for(tmp_path))
    yield opened
    opened.close()


@pytest.fixture
def site(services: Services) -> Iterator[Site]:
    with serving(services.settings, endpoints=ENDPOINTS, services=services) as site:
        yield site


def talk(site: Site, session_id: str, turns: int) -> None:
    for turn in range(turns):
        for role, said in (("user", f"question {turn}"), ("assistant", f"We decided on answer {turn}.")):
            answer = site.ask(
                "POST",
                f"/api/sessions/{session_id}/messages",
                {"role": role, "content": said},
                Idempotency_Key=f"{session_id}-{turn}-{role}",
            )
            assert answer.status == 201


def seen(site: Site, session_id: str) -> dict[str, Any]:
    session: dict[str, Any] = site.ask("GET", f"/api/sessions/{session_id}").json["session"]
    return session


def said(session: dict[str, Any]) -> list[str]:
    return [message["content"] for message in session["shortTermMemory"]]


@pytest.mark.requirement("MEMO-18")
def test_two_sessions_of_one_server_are_kept_short_in_different_ways(site: Site) -> None:
    site.ask("POST", "/api/sessions", {"id": "trimmed", "memory": {"type": "trimming", "maxTurns": 2}})
    site.ask("POST", "/api/sessions", {"id": "summed", "memory": {"contextLimit": 3, "keepLastNTurns": 1}})
    site.ask("POST", "/api/sessions", {"id": "usual"})
    for session_id in ("trimmed", "summed", "usual"):
        talk(site, session_id, 5)
    trimmed, summed, usual = (seen(site, session_id) for session_id in ("trimmed", "summed", "usual"))
    assert (trimmed["memoryType"], trimmed["longTermSummary"]) == ("trimming", "")
    assert said(trimmed) == ["question 3", "We decided on answer 3.", "question 4", "We decided on answer 4."]
    assert (summed["memoryType"], said(summed)) == ("summarizing", ["question 4", "We decided on answer 4."])
    assert "Question 0" in summed["longTermSummary"]
    assert (len(said(usual)), usual["longTermSummary"], usual["memory"]) == (10, "", {})
    assert trimmed["memory"] == {"type": "trimming", "maxTurns": 2}
    assert trimmed["messageCount"] == 10, "nothing recorded is gone"


@pytest.mark.requirement("MEMO-18")
def test_the_choice_can_be_changed_later_and_keeps_what_else_the_client_wrote(site: Site) -> None:
    site.ask("POST", "/api/sessions", {"id": "s", "metadata": {"team": "pay"}})
    talk(site, "s", 4)
    changed = site.ask("PATCH", "/api/sessions/s", {"memory": {"type": "trimming", "maxTurns": 1}})
    assert changed.status == 200, changed.body
    assert said(seen(site, "s")) == ["question 3", "We decided on answer 3."]
    assert seen(site, "s")["metadata"]["team"] == "pay"
    site.ask("PATCH", "/api/sessions/s", {"memory": {"type": "off"}})
    assert (seen(site, "s")["memoryType"], len(said(seen(site, "s")))) == ("off", 8)


@pytest.mark.requirement("MEMO-18")
def test_a_session_of_the_older_path_brings_its_configuration(site: Site) -> None:
    made = site.ask(
        "POST",
        "/sessions/create",
        {"session_id": "old", "session": {"type": "trimming", "max_turns": 1, "scope": "development"}},
    )
    assert made.status == 200, made.body
    talk(site, "old", 3)
    assert said(seen(site, "old")) == ["question 2", "We decided on answer 2."]


@pytest.mark.requirement("MEMO-18")
def test_the_tool_makes_a_session_with_its_own_choice(site: Site, services: Services) -> None:
    given = {"name": "mine", "memory": {"type": "trimming", "max_turns": 1}}
    made = Registry.of("session_create").dispatch(services, LOCAL, "session_create", given)
    session_id = made.structured["session_id"]
    talk(site, session_id, 3)
    assert said(seen(site, session_id)) == ["question 2", "We decided on answer 2."]


def test_numbers_that_contradict_each_other_are_refused(site: Site) -> None:
    both = {"contextLimit": 2, "keepLastNTurns": 3}
    refused = site.ask("POST", "/api/sessions", {"id": "s", "memory": both})
    assert refused.status in {400, 422}
    assert "keep_last_n_turns" in refused.json["detail"]


def test_a_client_that_keeps_something_else_under_that_name_is_left_alone(site: Site) -> None:
    site.ask("POST", "/api/sessions", {"id": "s", "metadata": {"session_memory": "my own words"}})
    talk(site, "s", 1)
    assert (seen(site, "s")["memoryType"], seen(site, "s")["memory"]) == ("summarizing", {})


@pytest.mark.requirement("MEMO-19")
def test_a_session_with_a_small_limit_is_summarised_while_it_grows(site: Site, services: Services) -> None:
    site.ask("POST", "/api/sessions", {"id": "s", "memory": {"contextLimit": 2, "keepLastNTurns": 1}})
    talk(site, "s", 8)
    services.summary_worker.settle(LOCAL.namespace, SessionId("s"))
    assert services.store.recording.summaries(LOCAL.namespace, SessionId("s"))
