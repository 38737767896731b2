"""Sessions and messages over REST: what changes, what is refused, what a client can rely on when it tries again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ovillo.app import open_services
from ovillo.interfaces.rest import ENDPOINTS
from ovillo.interfaces.services import Services
from ovillo.model.records import DEFAULT_NAMESPACE
from tests.builders import delta, message, session
from tests.interfaces.http.serving import Answer, Site, serving
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


def append(site: Site, session_id: str, key: str | None = "k1", **body: Any) -> Answer:
    headers = {"Idempotency_Key": key} if key else {}
    return site.ask(
        "POST", f"/api/sessions/{session_id}/messages", {"role": "user", "content": "hi", **body}, **headers
    )


def mirrored(services: Services) -> None:
    services.store.ingest.apply(
        DEFAULT_NAMESPACE, [delta(message("m1", 1, "from the agent", of="ses_m"), about=session("ses_m"))]
    )


@pytest.mark.requirement("REST-1")
def test_a_session_may_bring_its_id_and_comes_back_the_second_time(site: Site) -> None:
    first = site.ask("POST", "/api/sessions", {"id": "mine", "name": "A"})
    again = site.ask("POST", "/api/sessions", {"id": "mine", "name": "A"})
    other = site.ask("POST", "/api/sessions", {"id": "mine", "name": "B"})
    assert (first.status, again.status, other.status) == (201, 200, 409)
    assert again.json["session"] == first.json["session"]
    assert first.headers["location"] == "/api/sessions/mine"
    assert "another name" in other.json["detail"]


@pytest.mark.requirement("REST-2")
def test_an_append_is_stored_once_however_often_it_is_sent(site: Site) -> None:
    site.ask("POST", "/api/sessions", {"id": "mine"})
    first, again = append(site, "mine"), append(site, "mine")
    assert (first.status, again.status) == (201, 200)
    assert again.json == {**first.json, "replayed": True}
    assert append(site, "mine", content="something else").status == 409
    assert append(site, "mine", key=None).status == 422
    assert append(site, "nobody").status == 404
    assert site.ask("GET", "/api/sessions/mine/messages").json["total"] == 1


@pytest.mark.requirement("REST-3")
def test_a_change_that_has_not_seen_the_last_one_is_refused(site: Site) -> None:
    site.ask("POST", "/api/sessions", {"id": "mine"})
    tag = site.ask("GET", "/api/sessions/mine").headers["etag"]
    assert site.ask("GET", "/api/sessions/mine", If_None_Match=tag).status == 304
    changed = site.ask("PATCH", "/api/sessions/mine", {"name": "New", "modes": {"plan": True}}, If_Match=tag)
    assert changed.status == 200
    assert changed.json["session"]["modes"]["plan"] is True
    late = site.ask("PATCH", "/api/sessions/mine", {"name": "Late"}, If_Match=tag)
    assert (late.status, late.json["code"]) == (412, "precondition_failed")
    assert site.ask("DELETE", "/api/sessions/mine", If_Match=tag).status == 412
    assert site.ask("PATCH", "/api/sessions/mine", {"modes": {"orchestrate": True}}).json["session"]["modes"] == {
        "orchestrate": True,
        "plan": True,
        "bypassPermissions": False,
    }
    assert site.ask("DELETE", "/api/sessions/mine").status == 204
    assert site.ask("GET", "/api/sessions/mine").status == 404


@pytest.mark.requirement("REST-4")
def test_mirrored_sessions_are_read_like_recorded_ones_and_never_written(services: Services, site: Site) -> None:
    mirrored(services)
    shown = site.ask("GET", "/api/sessions/ses_m").json["session"]
    assert (shown["source"], shown["readOnly"]) == ("opencode", True)
    assert [m["content"] for m in shown["shortTermMemory"]] == ["from the agent"]
    assert site.ask("GET", "/api/sessions/ses_m/messages").json["messages"][0]["content"] == "from the agent"
    assert site.ask("GET", "/api/search?query=agent").json["sessions"][0]["id"] == "ses_m"
    for refused in (
        append(site, "ses_m"),
        site.ask("PATCH", "/api/sessions/ses_m", {"name": "x"}),
        site.ask("DELETE", "/api/sessions/ses_m"),
        site.ask("POST", "/api/sessions", {"id": "ses_m"}),
    ):
        assert refused.status == 409
        assert "read-only" in refused.json["detail"]


@pytest.mark.requirement("REST-5")
def test_messages_are_paged_without_losing_or_repeating_one(site: Site) -> None:
    site.ask("POST", "/api/sessions", {"id": "mine"})
    for number in range(1, 26):
        append(site, "mine", key=str(number), content=f"said {number}")
    seen: list[int] = []
    cursor = ""
    while True:
        page = site.ask("GET", f"/api/sessions/mine/messages?limit=10{cursor}").json
        seen += [m["seq"] for m in page["messages"]]
        if "nextCursor" not in page:
            break
        cursor = f"&cursor={page['nextCursor']}"
    assert seen == list(range(1, 26))
    newest = site.ask("GET", "/api/sessions/mine/messages?limit=3&order=desc").json["messages"]
    assert [m["seq"] for m in newest] == [25, 24, 23]
    since = site.ask("GET", f"/api/sessions/mine/messages?since={newest[1]['id']}").json["messages"]
    assert [m["seq"] for m in since] == [25]
    assert len(site.ask("GET", "/api/sessions/mine/messages?limit=1000000").json["messages"]) == 25


@pytest.mark.requirement("REST-6")
def test_tool_calls_and_metadata_come_back_as_they_were_sent(site: Site) -> None:
    site.ask("POST", "/api/sessions", {"id": "mine", "metrics": {"cost": 1.5}, "activeFiles": ["a.py"]})
    calls = [{"id": "c1", "name": "bash", "input": {"command": "ls"}, "output": "a.py", "status": "completed"}]
    append(site, "mine", role="assistant", content="looking", toolCalls=calls, metadata={"x": [1, None]})
    (shown,) = site.ask("GET", "/api/sessions/mine/messages").json["messages"]
    assert (shown["toolCalls"], shown["metadata"]) == (calls, {"x": [1, None]})
    kept = site.ask("GET", "/api/sessions/mine").json["session"]
    assert (kept["metrics"]["cost"], kept["metrics"]["messageCount"], kept["activeFiles"]) == (1.5, 1, ["a.py"])


@pytest.mark.requirement("REST-7")
def test_the_paths_of_v6_speak_its_shapes(site: Site) -> None:
    made = site.ask("POST", "/sessions/create", {"session_type": "feature", "metadata": {"feature_id": "PAY-123"}}).json
    assert set(made) == {"session_id", "created_at"}
    append(site, made["session_id"], content="Implement the validation of cards in card_validator.py")
    listed = site.ask("GET", "/sessions/list").json["sessions"][0]
    assert (listed["session_id"], listed["type"], listed["status"]) == (made["session_id"], "feature", "active")
    summary = site.ask("GET", f"/sessions/{made['session_id']}/summary").json
    assert (summary["type"], summary["turns"]) == ("feature", 1)
    assert "validation" in summary["summary"]
    assert site.ask("DELETE", f"/sessions/{made['session_id']}").json["success"] is True
    assert site.ask("GET", f"/sessions/{made['session_id']}/summary").status == 404


@pytest.mark.requirement("REST-8")
@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"role": "wizard", "content": "x"}, 422),
        ({"role": "user", "content": 5}, 422),
        ({"role": "user"}, 422),
        ([], 422),
        (b"{", 400),
        ({"role": "user", "content": "x", "timestamp": -1}, 422),
        ({"role": "user", "content": "x", "id": "a/b"}, 422),
    ],
)
def test_a_wrong_message_is_a_problem_that_says_what_is_right(site: Site, body: Any, status: int) -> None:
    site.ask("POST", "/api/sessions", {"id": "mine"})
    answer = site.ask("POST", "/api/sessions/mine/messages", body, Idempotency_Key="k", Content_Type="application/json")
    assert (answer.status, answer.kind) == (status, "application/problem+json")
    assert site.ask("GET", "/api/sessions/mine/messages").json["messages"] == []
