"""The transcript in a real browser: the virtual list, its keys, finding, a session that goes on, and hostile text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from ovillo.app import open_services
from ovillo.interfaces.rest.mount import open_mount as open_rest
from ovillo.interfaces.services import Services
from ovillo.interfaces.web.mount import open_mount
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import PartType, Role, SessionDelta, SessionId, ToolCall, ToolStatus
from tests.builders import delta, message, session, text_part, tool_part
from tests.interfaces.http.serving import Site, serving
from tests.interfaces.opened import settings_for
from tests.interfaces.web.browser import axe_findings, faults_of, let_in
from tests.security.planting import PLAIN, SECOND, planted

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

LONG = "ses_long"
#: Messages of the long session; every tenth is a prompt.
_MESSAGES = 900
#: What sets a flag where it runs, in every way that markup, Markdown and a terminal know.
LIVE = (
    "<script>window.ran=1</script><img src=x onerror=window.ran=2><svg onload=window.ran=3></svg>\n\n"
    "[one](javascript:window.ran=4) [two](data:text/html,<script>window.ran=5</script>) ![three](https://example.org/x.png)\n"
    "<a href='javascript:window.ran=6'>six</a> [four]: javascript:window.ran=7 [rel](/preferences) <javascript:window.ran=8>\n"
    "```html\n<script>window.ran=9</script>\n```\n\x1b]8;;https://evil.example\x07link\x1b]8;;\x07 {{ 7*7 }} {% raw %} <!--\n"
    "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-<script>window.ran=10</script>\n+<img src=x onerror=window.ran=11>\n"
    "</textarea></template></details></article><iframe srcdoc='<script>parent.ran=12</script>'></iframe>"
)


def _told(number: int) -> str:
    return (
        f"Prompt {number} about the parser"
        if number % 10 == 0
        else f"Step {number}. " + "Words follow. " * (number % 40)
    )


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    folder = tmp_path_factory.mktemp("browser")
    opened = open_services(settings_for(folder, auth="token"))
    said = [
        message(f"m{number}", number, _told(number), role=Role.ASSISTANT if number % 10 else Role.USER, of=LONG)
        for number in range(_MESSAGES)
    ]
    call = ToolCall("Edit", "c1", {"file_path": "a.py", "old_string": "one\ntwo", "new_string": "one\nthree"}, "done")
    said[5] = replace(said[5], parts=(*said[5].parts, tool_part("m5", 1, replace(call, status=ToolStatus.ERROR))))
    opened.store.ingest.apply(NS, [delta(*said, about=session(LONG, title="A long one"))])
    planted(opened, folder)
    opened.store.ingest.apply(NS, [_hostile()])
    yield opened
    opened.close()


def _hostile() -> SessionDelta:
    """A part of every type whose text, arguments, output, names and patches all try to run."""
    parts = []
    for seq, kind in enumerate(PartType):
        tool = ToolCall(LIVE, f"c{seq}", {LIVE: LIVE, "file_path": LIVE}, LIVE, LIVE, ToolStatus.COMPLETED)
        part = text_part("h1", LIVE, seq)
        is_tool = kind in (PartType.TOOL_CALL, PartType.TOOL_RESULT)
        parts.append(replace(part, type=kind, tool=tool if is_tool else None, text="" if is_tool else LIVE))
    edit = ToolCall("edit", "c99", {"filePath": LIVE, "oldString": LIVE, "newString": LIVE + "x"}, LIVE)
    parts.append(tool_part("h1", 98, edit))
    answer = message(
        "h1", 1, role=Role.ASSISTANT, of="ses_hostile", parts=tuple(parts), error=LIVE, agent=LIVE, model=LIVE
    )
    asked = message("h0", 0, LIVE, of="ses_hostile")
    return delta(asked, answer, about=session("ses_hostile", title=LIVE, directory=LIVE, git_branch=LIVE))


@pytest.fixture(scope="module")
def site(services: Services) -> Iterator[Site]:
    with serving(services.settings, open_mount, open_rest, services=services) as running:
        yield running


@pytest.fixture
def reader(site: Site, browser: Browser) -> Iterator[Page]:
    with let_in(browser, site, viewport={"width": 1280, "height": 800}) as context:
        page = context.new_page()
        faults = faults_of(page)
        yield page
        assert faults == []


def open_long(page: Page, more: str = "") -> None:
    page.goto(f"/sessions/{LONG}{more}")
    page.wait_for_selector(".feed.virtual [data-row]")


def until(page: Page, claim: str) -> None:
    """``wait_for_function`` evaluates a string in the page, which the page's policy forbids."""
    page.evaluate(
        "() => new Promise((done, fail) => { const end = Date.now() + 15000; const look = () => (" + claim + ")"
        " ? done() : Date.now() > end ? fail(new Error('never')) : setTimeout(look, 20); look(); })"
    )


def top_of(page: Page, number: int) -> float:
    """Where a row stands below the header; the page is given the time that rows above take to be measured."""
    page.wait_for_selector(f'[data-row="{number}"]:not(.waiting)')
    page.wait_for_load_state("networkidle")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    found: float = page.evaluate(
        f"document.querySelector('[data-row=\"{number}\"]').getBoundingClientRect().top"
        " - document.querySelector('.top').getBoundingClientRect().bottom"
    )
    return found


def scaled(page: Page, tallest: int) -> None:
    """The list may be so tall, as if a browser could scroll no further."""

    def answer(route: Route) -> None:
        told = route.fetch()
        route.fulfill(response=told, body=re.sub(r'data-tallest="\d+"', f'data-tallest="{tallest}"', told.text()))

    page.route(re.compile(rf"/sessions/{LONG}(\?|$)"), answer)


@pytest.mark.requirement("WEB-22")
def test_a_session_taller_than_a_browser_scrolls_is_read_to_both_ends(reader: Page) -> None:
    """Every row is reached by the bar, by keys and by small steps, and no row is skipped on the way."""
    scaled(reader, 12_000)
    open_long(reader)
    page_height = reader.evaluate("document.documentElement.scrollHeight")
    assert page_height < 14_000
    for number in (450, _MESSAGES, 2, 700):
        reader.keyboard.press("#")
        reader.fill("#go-to input", str(number))
        reader.keyboard.press("Enter")
        until(reader, f"document.querySelector('[data-row=\"{number}\"]:not(.waiting)')")
        # Once rows are measured, the one that was asked for is still where it was brought to, or the last of them at the end.
        reader.wait_for_timeout(700)
        top = reader.evaluate(f"document.querySelector('[data-row=\"{number}\"]').getBoundingClientRect().top")
        edge = reader.evaluate("document.querySelector('.top').getBoundingClientRect().bottom + 16")
        assert abs(top - edge) <= 8 or (number == _MESSAGES and edge < top < 800), (number, top, edge)
    reader.keyboard.press("Escape")
    seen = set()
    reader.mouse.move(500, 500)
    reader.keyboard.press("Home")
    until(reader, "scrollY === 0")
    for _ in range(600):
        reader.mouse.wheel(0, 600)
        reader.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        seen |= set(
            reader.evaluate("[...document.querySelectorAll('.feed [data-row]')].map(row => Number(row.dataset.row))")
        )
        if reader.evaluate("scrollY + innerHeight >= document.documentElement.scrollHeight - 1"):
            break
    assert seen >= set(range(1, _MESSAGES + 1)), sorted(set(range(1, _MESSAGES + 1)) - seen)[:10]
    reader.evaluate("scrollTo({top: document.documentElement.scrollHeight / 2, behavior: 'instant'})")
    # Rows of the end stand there until the page has seen that it was scrolled.
    fourth = "Number(document.querySelectorAll('.feed [data-row]:not(.waiting)')[3]?.dataset.row)"
    until(reader, f"{fourth} < {_MESSAGES * 0.7}")
    assert reader.evaluate(fourth) > _MESSAGES * 0.3


@pytest.mark.requirement("WEB-22")
def test_a_long_session_is_there_row_by_row_and_a_jump_stays_where_it_went(reader: Page) -> None:
    open_long(reader)
    for number in (700, 12, 450):
        reader.keyboard.press("#")
        reader.fill("#go-to input", str(number))
        reader.keyboard.press("Enter")
        assert abs(top_of(reader, number) - 16) <= 8
        assert reader.evaluate("document.activeElement.dataset.row") == str(number)
        row = reader.locator(f'[data-row="{number}"]')
        assert (row.get_attribute("aria-posinset"), row.get_attribute("aria-setsize")) == (str(number), "901")
    assert reader.evaluate("document.getElementsByTagName('*').length") < 10_000
    reader.wait_for_url("**?at=450")
    assert axe_findings(reader) == []


@pytest.mark.requirement("WEB-22")
def test_a_link_to_a_part_opens_there(reader: Page) -> None:
    open_long(reader, "?at=m600-p0")
    assert abs(top_of(reader, 602) - 16) <= 8


@pytest.mark.requirement("WEB-8")
def test_keys_go_from_prompt_to_prompt_and_from_failure_to_failure(reader: Page) -> None:
    open_long(reader)
    reader.keyboard.press("u")
    reader.wait_for_selector('[data-row="12"]:focus')
    reader.keyboard.press("u")
    reader.wait_for_selector('[data-row="22"]:focus')
    reader.keyboard.press("U")
    reader.wait_for_selector('[data-row="12"]:focus')
    reader.keyboard.press("E")
    reader.wait_for_selector('[data-row="7"]:focus')
    reader.keyboard.press("o")
    reader.wait_for_selector('[data-row="7"] .diff .added')
    reader.keyboard.press("d")
    reader.wait_for_selector('[data-row="7"] .diff.split')
    reader.keyboard.press(".")
    reader.wait_for_selector('[data-row="7"] .fold:not([open])')


@pytest.mark.requirement("WEB-23")
def test_words_are_found_in_the_whole_session_and_gone_through(reader: Page, site: Site) -> None:
    open_long(reader)
    reader.keyboard.press("Control+f")
    reader.keyboard.type('"prompt 4"')
    reader.wait_for_selector("#found-here:text-is('11')")
    reader.keyboard.press("Escape")
    reader.keyboard.press("n")
    reader.wait_for_selector('[data-row="42"]:focus')
    reader.keyboard.press("n")
    reader.wait_for_selector('[data-row="402"]:focus')
    until(reader, "CSS.highlights.get('found')?.size > 0")
    told = site.ask("GET", f"/sessions/{LONG}/find.json?q=%22prompt%2040%22%20agent%3Abuild").json
    assert [hit["number"] for hit in told["hits"]] == [42, *range(402, 412, 10)]


@pytest.mark.requirement("WEB-24")
def test_what_is_recorded_comes_onto_the_page(reader: Page, site: Site) -> None:
    body = json.dumps({"name": "goes on"}).encode()
    made = site.ask("POST", "/api/sessions", body, Content_Type="application/json").json["session"]["id"]
    path = f"/api/sessions/{made}/messages"

    def say(text: str) -> None:
        body = json.dumps({"role": "user", "content": text}).encode()
        site.ask("POST", path, body, Content_Type="application/json", Idempotency_Key=text)

    say("the first")
    with reader.expect_response(lambda answer: "/api/changes" in answer.url):
        reader.goto(f"/sessions/{made}")
    for text in ("the second", "the third"):
        say(text)
        reader.wait_for_selector(f"text={text}")
    assert reader.locator("[data-row]").count() == 3


@pytest.mark.requirement("WEB-20")
def test_without_script_a_session_is_read_page_by_page(site: Site, browser: Browser) -> None:
    with let_in(browser, site, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"/sessions/{LONG}")
        seen = set()
        while True:
            seen |= {row.get_attribute("data-row") for row in page.locator("[data-row]").all()}
            following = page.locator("a[rel=next]")
            if not following.count():
                break
            following.click()
        assert len(seen) == _MESSAGES + 1
        page.locator("a[rel=prev]").click()
        assert page.locator("[data-row]").count() > 20


@pytest.mark.requirement("WEB-1")
@pytest.mark.parametrize("hostile", ["ses_hostile", PLAIN, SECOND])
def test_nothing_planted_runs(reader: Page, hostile: SessionId) -> None:
    base = f"/sessions/{quote(hostile, safe='')}"
    asked: list[str] = []
    reader.on("request", lambda request: asked.append(request.url))
    reader.goto(base)
    reader.wait_for_selector(".feed.virtual [data-row]")
    total = int(reader.get_attribute("#transcript", "data-total") or 0)
    parts = []
    for number in range(1, total + 1):
        reader.keyboard.press("j" if number > 1 else "C")
        row = reader.locator(f'[data-row="{number}"]:not(.waiting)')
        row.wait_for()
        parts.append(row.get_attribute("data-address") or "")
        fold = row.locator(".fold[data-part]")
        if fold.count():
            fold.locator("summary").click()
            until(reader, f'!document.querySelector(\'[data-row="{number}"] .body > a[href*="/parts/"]\')')
        assert reader.evaluate("window.ran === undefined"), number
    assert total >= 12
    reader.keyboard.press("d")
    for more in (f"{base}/outline", f"{base}/find?q=script", *(f"{part}?whole=true" for part in parts)):
        answer = reader.goto(more)
        assert answer is not None
        assert answer.status == 200, more
        assert reader.evaluate("window.ran === undefined"), more
        assert not reader.locator("main script, main iframe, main img, main svg, [onerror], [onload]").count()
        for link in reader.locator("main a[href]").all():
            address = link.get_attribute("href") or ""
            assert address.startswith(("/", "https://", "http://", "mailto:")), address
            if not address.startswith("/"):
                assert "noopener" in (link.get_attribute("rel") or "")
    assert all(address.startswith(reader.url.split("/sessions")[0]) for address in asked)
