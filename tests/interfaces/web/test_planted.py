"""Hostile text in every field that can be filled: no screen, in no state, runs it or draws it as markup."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import quote, urldefrag, urlsplit

import pytest

from ovillo.interfaces.services import Services
from ovillo.interfaces.web.exporting import own_script
from ovillo.interfaces.web.mount import SCREENS, open_mount
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.sessions import SessionFilter
from tests.interfaces.http.serving import Site
from tests.interfaces.web.browser import faults_of
from tests.interfaces.web.keyed import keyed_site
from tests.interfaces.web.sites import page, text_of
from tests.security.marks import raw_in
from tests.security.planting import EPISODE, MARK, PLAIN, WAITS, planted

if TYPE_CHECKING:
    from playwright.sync_api import Browser

#: Every screen, each state that has an address of its own. The last are filled in.
_ADDRESSES = (
    "/sessions",
    f"/sessions?q={MARK}",
    "/sessions?q=%22validate_card%22&sort=tokens",
    f"/sessions?project={MARK}",
    f"/sessions/{PLAIN}",
    f"/sessions/{PLAIN}?at=3",
    f"/sessions/{PLAIN}/outline",
    f"/sessions/{PLAIN}/find?q={MARK}",
    f"/sessions/{PLAIN}/lineage",
    "/sessions/{second}",
    "/sessions/{second}/lineage",
    "/sessions/{child}",
    f"/sessions/{PLAIN}/compare?other={{second}}",
    "/stats?range=all",
    "/stats?range=all&by=model",
    "/time?week=2026-11-21",
    "/sources",
    "/sources/checks",
    "/live",
    "/memory",
    f"/memory?q={MARK}",
    f"/memory/items/{EPISODE}",
    f"/memory/items/{WAITS}",
    f"/memory/forget?id={EPISODE}",
    "/memory/review",
    "/memory/contradictions",
    f"/memory/recall?prompt={MARK}",
    "/code",
    "/code?q=pay_plain",
    "/code/discussed?name=validate_card",
    f"/resolve?session={PLAIN}&q=that+function",
    "/admin",
    "/admin/keys",
    "/admin/audit?check=true",
    "/admin/backups",
    "/admin/retention?days=1&mirrored=true",
    "/admin/settings",
    f"/sessions/nothing {MARK}<script>",
)
#: Pages that are read, whatever leads to them.
_MOST_PAGES = 250
#: What a crawl need not read twice for each value.
_PLACE = re.compile(r"=[^&]*")

Planted = tuple[Services, Site]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planted]:
    folder = tmp_path_factory.mktemp("planted")
    with keyed_site(folder) as (services, _, admin):
        planted(services, folder)
        for session in services.catalog.list(NS, SessionFilter(), limit=50).sessions:
            services.entities.entities_of_session(NS, session.session.id)
        yield services, admin


def addresses(services: Services) -> list[str]:
    ids = [each.session.id for each in services.catalog.list(NS, SessionFilter(), limit=50).sessions]
    second = next(each for each in ids if each.startswith("ses_second"))
    child = next(each for each in ids if each.startswith("ses_child"))
    given = {"second": quote(second, safe=""), "child": quote(child, safe="")}
    return [each.format(**given) for each in _ADDRESSES]


class _Live(HTMLParser):
    """What of a page could run or ask, other than our own."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        source = given.get("src") or given.get("href") or ""
        is_own = source.startswith("/assets/")
        if tag in {"iframe", "object", "embed", "base", "quoted"} or (tag in {"script", "img", "link"} and not is_own):
            self.faults.append(f"<{tag} {source[:60]}>")
        if MARK in tag or any(MARK in name or name.startswith("on") or name == "style" for name in given):
            self.faults.append(f"<{tag} {list(given)[:5]}>")
        scheme = re.sub(r"[\s\x00-\x1f]", "", source).partition(":")[0].lower()
        if scheme in {"javascript", "data", "vbscript"} and tag != "link":
            self.faults.append(f"<{tag} {source[:60]}>")
        if tag == "a" and source.startswith("/"):
            self.links.append(urldefrag(source)[0])


@pytest.mark.requirement("WEB-78")
def test_no_page_that_can_be_reached_makes_markup_of_what_was_recorded(filled: Planted) -> None:
    services, site = filled
    waiting, seen, found = deque(addresses(services)), set[str](), dict[str, list[str]]()
    while waiting and len(seen) < _MOST_PAGES:
        address = waiting.popleft()
        kind = _PLACE.sub("=", address)
        if kind in seen:
            continue
        seen.add(kind)
        answer = page(site, address.replace(" ", "%20").replace("<", "%3C").replace(">", "%3E"))
        if not answer.kind.startswith("text/html"):
            continue
        # The page that prints a whole session is an export, which carries one script of ours.
        html = text_of(answer).replace(f"<script>{own_script()}</script>", "", 1)
        live = _Live()
        live.feed(html)
        problems = live.faults + raw_in(html)
        if answer.status >= 500:
            problems.append(f"status {answer.status}")
        if problems:
            found[address[:120]] = problems[:4]
        waiting.extend(live.links)
    assert found == {}
    assert len(seen) > 60


@pytest.mark.requirement("WEB-78")
def test_no_screen_runs_what_was_recorded(filled: Planted, browser: Browser) -> None:
    services, site = filled
    found: dict[str, list[str]] = {}
    with browser.new_context(base_url=site.url, extra_http_headers=dict(site.credential)) as context:
        tab = context.new_page()
        tab.on("dialog", lambda dialog: found.setdefault("dialog", []).append(dialog.message))
        asked: list[str] = []
        tab.on("request", lambda request: asked.append(request.url))
        faults = faults_of(tab)
        for address in addresses(services):
            answer = tab.goto(address, wait_until="load")
            assert answer is not None
            tab.locator("details:not([open]) > summary").evaluate_all(
                "all => all.slice(0, 20).forEach((one) => one.click())"
            )
            # What of it stands on the page now, was it made by a script of ours or by the server.
            problems = tab.evaluate(
                """mark => [
                  ...[...document.querySelectorAll("script, iframe, object, embed, base")]
                    .filter((one) => !(one.tagName === "SCRIPT" && one.src.startsWith(location.origin + "/assets/")))
                    .map((one) => one.outerHTML.slice(0, 100)),
                  ...[...document.querySelectorAll("img")].filter((one) => !one.src.startsWith(location.origin)).map((one) => one.src),
                  ...[...document.querySelectorAll("*")].flatMap((one) => [...one.attributes]
                    .filter((each) => each.name.startsWith("on") || each.name.includes(mark)).map((each) => each.name)),
                ]""",
                MARK,
            )
            problems += raw_in(tab.content())
            problems += [each for each in faults if "status of 4" not in each]
            problems += [each for each in asked if urlsplit(each).netloc != urlsplit(site.url).netloc]
            faults.clear()
            asked.clear()
            if problems:
                found[address[:100]] = problems[:4]
    assert found == {}


@pytest.mark.requirement("WEB-78")
def test_every_screen_is_among_those_that_are_opened(filled: Planted) -> None:
    """A screen that is added has to be opened here, too."""
    services, site = filled
    assert site.context is not None
    declared = {
        each.path.split("/")[1].partition(".")[0]
        for each in open_mount(site.context).endpoints
        if each.is_page and each.method == "GET"
    }
    opened = {address.split("/")[1].partition("?")[0] for address in addresses(services)}
    assert declared - opened - {"", "assets", "login"} == set()
    assert len(SCREENS) > 10
