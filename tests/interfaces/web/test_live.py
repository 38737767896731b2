"""What happens now in all sessions, as it happens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.interfaces.http.serving import Site, process
from tests.interfaces.web.browser import axe_findings, chromium, faults_of, let_in
from tests.interfaces.web.sites import page, text_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with process(tmp_path_factory.mktemp("live")) as (_, running):
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


def begin(site: Site, name: str) -> str:
    body = json.dumps({"name": name}).encode()
    made: str = site.ask("POST", "/api/sessions", body, Content_Type="application/json").json["session"]["id"]
    return made


def say(site: Site, session: str, text: str) -> None:
    body = json.dumps({"role": "user", "content": text}).encode()
    path = f"/api/sessions/{session}/messages"
    assert site.ask("POST", path, body, Content_Type="application/json", Idempotency_Key=text).status == 201


@pytest.mark.requirement("WEB-26")
def test_running_sessions_are_told_with_what_they_said_last_and_can_be_filtered(site: Site) -> None:
    assert "live-none" in text_of(page(site, "/live"))
    one, other = begin(site, "tax rounding"), begin(site, "stock")
    say(site, one, "round it <b>half up</b>")
    say(site, other, "lock the row")
    told = site.ask("GET", "/live.json").json
    assert {each["title"] for each in told["running"]} == {"tax rounding", "stock"}
    assert [line["text"] for line in told["lines"]] == ["round it <b>half up</b>", "lock the row"]
    html = text_of(page(site, "/live?q=tax"))
    assert "round it &lt;b&gt;" in html
    assert "lock the row" not in html
    later = site.ask("GET", f"/live/lines.json?since={told['cursor']}").json
    assert later["lines"] == []
    say(site, one, "and test it")
    later = site.ask("GET", f"/live/lines.json?since={told['cursor']}").json
    assert [line["text"] for line in later["lines"]] == ["and test it"]
    assert site.ask("GET", f"/live/lines.json?since={told['cursor']}&q=stock").json["lines"] == []


@pytest.mark.requirement("WEB-26")
def test_lines_come_by_themselves_and_wait_for_who_reads_further_up(site: Site, browser: Browser) -> None:
    session = begin(site, "goes on")
    with let_in(browser, site, viewport={"width": 1000, "height": 500}) as context:
        tab = context.new_page()
        faults = faults_of(tab)
        with tab.expect_response(lambda answer: "/api/changes" in answer.url):
            tab.goto("/live")
        for number in range(30):
            say(site, session, f"line {number} ends")
        tab.wait_for_selector("text=line 29 ends")
        stream = tab.locator("#live-stream")
        assert stream.evaluate("list => list.scrollTop + list.clientHeight >= list.scrollHeight - 40")
        stream.evaluate("list => list.scrollTop = 0")
        tab.wait_for_selector("#live-state:text-is('Waits while you read')")
        for number in range(30, 34):
            say(site, session, f"line {number} ends")
        tab.wait_for_selector("#new-lines:visible b:text-is('4')")
        assert stream.evaluate("list => list.scrollTop") == 0
        tab.click("#new-lines")
        tab.wait_for_selector("#new-lines", state="hidden")
        assert axe_findings(tab) == []
        assert faults == []
