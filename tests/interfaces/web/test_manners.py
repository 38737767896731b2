"""Manners of all pages, from outside: keys alone, what a screen reader is told, motion, zoom, colours of the system."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from tests.interfaces.http.serving import Site
from tests.interfaces.web.browser import faults_of, let_in
from tests.interfaces.web.sites import demo_site, page, text_of
from tests.interfaces.web.test_walk import SCREENS, SESSION

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LINEAGE = f"/sessions/{quote('Rate limiter lets bursts through')}/lineage"
#: Longer than any screen of the demo has elements to reach.
_MOST_TABS = 120


@pytest.fixture
def reader(site: Site, browser: Browser) -> Iterator[Page]:
    """Nobody touches a mouse on this page."""
    with let_in(browser, site, viewport={"width": 1280, "height": 800}, accept_downloads=True) as context:
        opened = context.new_page()
        faults = faults_of(opened)
        yield opened
        assert faults == []


def tab_to(reader: Page, claim: str, key: str = "Tab") -> None:
    """Presses Tab until the element with the focus passes ``claim``, an expression about ``here``. Every element on the way
    shows that it has the focus."""
    for _ in range(_MOST_TABS):
        reader.keyboard.press(key)
        told = reader.evaluate(
            "() => { const here = document.activeElement; const style = getComputedStyle(here);"
            " const box = here.getBoundingClientRect();"
            " const shown = style.outlineStyle !== 'none' || here.closest('svg') !== null || here === document.body;"
            f" return [{claim}, shown, here.outerHTML.slice(0, 120), box.width > 0]; }}"
        )
        assert told[1], f"no one sees that this has the focus: {told[2]}"
        if told[0]:
            return
    raise AssertionError(f"Tab never reaches {claim}")


@pytest.mark.requirement("WEB-8")
def test_a_hit_is_found_and_opened_by_keys_alone(reader: Page) -> None:
    reader.goto("/sessions")
    reader.keyboard.press("/")
    reader.keyboard.type("redondeo")
    reader.wait_for_selector(".snippet mark")
    tab_to(reader, "here.matches('.snippet')")
    reader.keyboard.press("Enter")
    reader.wait_for_url(re.compile(r"/sessions/.*[?&]at="))
    reader.wait_for_selector(".feed.virtual [data-row]")
    assert "q=redondeo" in reader.url
    reader.keyboard.press("n")
    reader.wait_for_selector("#found-here:has-text('/')")


@pytest.mark.requirement("WEB-8")
def test_a_session_is_opened_given_a_star_and_exported_by_keys_alone(reader: Page) -> None:
    reader.goto("/sessions")
    reader.keyboard.press("j")
    title = reader.locator(".row.here .row-title").inner_text()
    reader.keyboard.press("s")
    reader.wait_for_selector(f".row:has-text('{title[:20]}') .star[aria-pressed='true']")
    reader.keyboard.press("j")
    with reader.expect_download() as download:
        reader.keyboard.press("e")
    assert download.value.suggested_filename.endswith(".json")
    reader.keyboard.press("Enter")
    reader.wait_for_selector(".feed.virtual [data-row]")
    assert reader.locator("h1").inner_text() == title


@pytest.mark.requirement("WEB-8")
def test_parts_are_opened_compared_and_folded_by_keys_alone(reader: Page) -> None:
    reader.goto(SESSION)
    reader.wait_for_selector(".feed.virtual [data-row]")
    edit = reader.evaluate("Number(document.querySelector('.kind-patch, [data-row]:has(.added)').dataset.row)")
    reader.keyboard.press("#")
    reader.keyboard.type(str(edit))
    reader.keyboard.press("Enter")
    assert reader.evaluate("Number(document.activeElement.dataset.row)") == edit
    reader.keyboard.press("o")
    reader.wait_for_selector(f"[data-row='{edit}'] .fold[open] .diff:not(.split)")
    reader.keyboard.press("d")
    reader.wait_for_selector(f"[data-row='{edit}'] .fold[open] .diff.split")
    reader.keyboard.press(".")
    reader.wait_for_selector(f"[data-row='{edit}'] .fold:not([open])")
    reader.keyboard.press("k")
    assert reader.evaluate("Number(document.activeElement.dataset.row)") == edit - 1
    reader.keyboard.press("u")
    assert reader.evaluate("document.activeElement.matches('.kind-user')")


@pytest.mark.requirement("WEB-8")
def test_the_outline_leads_to_its_prompt_by_keys_alone(reader: Page) -> None:
    reader.goto(SESSION)
    reader.wait_for_selector(".feed.virtual [data-row]")
    wanted = reader.evaluate("document.querySelector('.turns li:nth-child(2) a').dataset.jump")
    tab_to(reader, f"here.dataset.jump === '{wanted}'")
    reader.keyboard.press("Enter")
    assert reader.evaluate("document.activeElement.dataset.row") == wanted
    assert reader.evaluate("document.activeElement.getBoundingClientRect().top") < 200


@pytest.mark.requirement("WEB-8")
def test_two_sessions_are_compared_by_keys_alone(reader: Page) -> None:
    reader.goto(LINEAGE)
    tab_to(reader, "here.matches('.tree')")
    reader.keyboard.press("ArrowRight")
    assert reader.evaluate("document.activeElement.matches('.node:not(.here)')")
    reader.keyboard.press("v")
    reader.wait_for_url("**/compare?other=*")
    assert reader.locator(".two section").count() == 2


@pytest.mark.requirement("WEB-8")
def test_language_and_theme_are_chosen_by_keys_alone(reader: Page) -> None:
    reader.goto("/stats")
    for typed, claim in (
        ("dark", "html[data-theme='dark']"),
        ("espa", "html[lang='es']"),
        ("tema: claro", "html[data-theme='light']"),
    ):
        reader.wait_for_load_state("load")
        reader.keyboard.press("Control+k")
        reader.keyboard.type(typed)
        reader.keyboard.press("Enter")
        reader.wait_for_selector(claim)
        assert reader.url.endswith("/stats")


@pytest.mark.requirement("WEB-8")
def test_what_keys_do_is_also_found_by_its_name(reader: Page) -> None:
    reader.goto(SESSION)
    reader.wait_for_selector(".feed.virtual [data-row]")
    reader.keyboard.press("Control+k")
    reader.keyboard.type(
        "next or previous prompt" if reader.get_by_text("Next or previous prompt").count() else "prompt"
    )
    assert reader.locator("#palette li[aria-selected='true'] kbd").inner_text() == "u"
    reader.keyboard.press("Enter")
    assert reader.evaluate("document.activeElement.matches('.kind-user')")
    reader.keyboard.press("g")
    reader.keyboard.press("g")
    assert reader.locator("#go-to[open]").count() == 1


@pytest.mark.requirement("WEB-8")
def test_focus_stays_on_its_row_when_rows_around_it_come_and_go(reader: Page) -> None:
    reader.goto(SESSION)
    reader.wait_for_selector(".feed.virtual [data-row]")
    reader.keyboard.press("j")
    held = reader.evaluate("document.activeElement.dataset.row")
    reader.evaluate("scrollTo({top: document.documentElement.scrollHeight, behavior: 'instant'})")
    reader.evaluate("scrollTo({top: 0, behavior: 'instant'})")
    reader.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert reader.evaluate("document.activeElement.dataset.row") == held


@pytest.mark.requirement("WEB-27")
@pytest.mark.parametrize("path", SCREENS)
def test_everything_that_can_be_used_or_looked_at_has_a_name(reader: Page, path: str) -> None:
    """Read from the tree that the browser gives to screen readers."""
    reader.goto(path, wait_until="load" if path == "/live" else "networkidle")
    session = reader.context.new_cdp_session(reader)
    nodes: list[dict[str, Any]] = session.send("Accessibility.getFullAXTree")["nodes"]
    named = {
        "link",
        "button",
        "image",
        "img",
        "meter",
        "checkbox",
        "textbox",
        "searchbox",
        "combobox",
        "figure",
        "dialog",
        "region",
        "progressbar",
    }
    nameless = [
        node
        for node in nodes
        if not node.get("ignored")
        and node.get("role", {}).get("value") in named
        and not node.get("name", {}).get("value", "").strip()
    ]
    assert nameless == []
    landmarks = [
        node["role"]["value"]
        for node in nodes
        if not node.get("ignored") and node.get("role", {}).get("value") in {"main", "banner", "contentinfo"}
    ]
    assert sorted(landmarks) == ["banner", "contentinfo", "main"]
    headings = [node for node in nodes if node.get("role", {}).get("value") == "heading" and not node.get("ignored")]
    levels = [
        next(each["value"]["value"] for each in node["properties"] if each["name"] == "level") for node in headings
    ]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels)), levels


@pytest.mark.requirement("WEB-27")
def test_nothing_moves_for_who_asked_for_less_motion(site: Site, browser: Browser) -> None:
    with let_in(browser, site, reduced_motion="reduce") as context:
        reader = context.new_page()
        for path in ("/sessions", SESSION, "/stats", "/live"):
            reader.goto(path)
            moving = reader.evaluate(
                "[...document.querySelectorAll('*')].filter((each) => { const style = getComputedStyle(each);"
                " return style.scrollBehavior === 'smooth' || parseFloat(style.transitionDuration) > 0"
                " || style.animationName !== 'none'; })"
                ".map((each) => each.outerHTML.slice(0, 80))"
            )
            assert moving == []


@pytest.mark.requirement("WEB-27")
@pytest.mark.parametrize("path", SCREENS)
def test_at_400_percent_and_with_wide_spacing_nothing_is_lost(site: Site, browser: Browser, path: str) -> None:
    """1280 pixels at 400 % are 320; the distances are those of WCAG 1.4.12."""
    with let_in(browser, site, viewport={"width": 320, "height": 640}, bypass_csp=True) as context:
        reader = context.new_page()
        reader.goto(path, wait_until="load" if path == "/live" else "networkidle")
        assert reader.evaluate("document.documentElement.scrollWidth <= innerWidth"), "it scrolls sideways"
        reader.add_style_tag(
            content="* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important }"
            " p { margin-bottom: 2em !important }"
        )
        assert reader.evaluate("document.documentElement.scrollWidth <= innerWidth"), "it scrolls sideways when spaced"
        cut = reader.evaluate(
            "[...document.querySelectorAll('button, .tabs a, .sections a, h1')].filter((each) =>"
            " each.clientHeight && each.scrollHeight > each.clientHeight + 3 && getComputedStyle(each).overflow === 'hidden')"
            ".map((each) => each.outerHTML.slice(0, 80))"
        )
        assert cut == []


@pytest.mark.requirement("WEB-27")
def test_with_colours_of_the_system_marks_and_states_are_still_told_apart(site: Site, browser: Browser) -> None:
    with let_in(browser, site, forced_colors="active", viewport={"width": 1280, "height": 800}) as context:
        reader = context.new_page()
        reader.goto("/sessions")
        here, other = (
            reader.locator(f".sections a{which}").first.evaluate(
                "a => { const s = getComputedStyle(a); return s.borderBottomColor + s.borderBottomStyle + s.fontWeight; }"
            )
            for which in ("[aria-current]", ":not([aria-current])")
        )
        assert here != other
        bar = reader.locator(".histogram rect:not(.reach)").first
        ground = reader.evaluate("getComputedStyle(document.body).backgroundColor")
        assert bar.evaluate("rect => getComputedStyle(rect).fill") != ground


@pytest.mark.requirement("WEB-3")
def test_times_are_written_as_the_reader_of_the_page_does(site: Site, browser: Browser) -> None:
    with let_in(browser, site, locale="es-ES", timezone_id="America/Bogota") as context:
        reader = context.new_page()
        reader.goto(SESSION)
        told = reader.locator(".session-head time").first
        at = told.get_attribute("datetime")
        wanted = reader.evaluate(
            "at => new Intl.DateTimeFormat('es', {dateStyle: 'medium', timeStyle: 'short',"
            " timeZone: 'America/Bogota'}).format(new Date(at))",
            at,
        )
        reader.wait_for_selector("time[data-told]")
        assert told.inner_text() == wanted
        reader.goto("/sessions")
        reader.wait_for_selector("time[data-told]")
        assert reader.locator(".when time").first.inner_text().startswith("hace ")


@pytest.mark.requirement("WEB-3")
def test_quoted_text_says_its_language(site: Site) -> None:
    html = text_of(page(site, "/sessions", Accept_Language="fr"))
    assert '<html lang="fr"' in html
    assert re.search(r'class="row-title"[^>]* lang="es">Total con IVA', html)
    assert re.search(r'class="row-title"[^>]* lang="pt">Preciso importar', html)
    assert re.search(r'class="row-title"[^>]*"(?! lang)>Flaky test_login_expires', html)


@pytest.mark.requirement("WEB-26")
def test_a_dot_tells_on_every_page_that_a_session_is_at_work(tmp_path_factory: pytest.TempPathFactory) -> None:
    with demo_site(tmp_path_factory.mktemp("dot")) as running:
        assert 'class="dot"' not in text_of(page(running, "/stats"))
        made = running.ask("POST", "/api/sessions", b'{"name": "now"}', Content_Type="application/json").json
        path = f"/api/sessions/{made['session']['id']}/messages"
        body = b'{"role": "user", "content": "go"}'
        running.ask("POST", path, body, Content_Type="application/json", Idempotency_Key="1")
        assert '<span class="dot" role="img" aria-label="1 session at work"' in text_of(page(running, "/stats"))


@pytest.mark.requirement("WEB-27")
def test_on_paper_a_page_is_light_and_holds_only_what_there_is_to_read(site: Site, browser: Browser) -> None:
    with let_in(browser, site, color_scheme="dark", viewport={"width": 1280, "height": 800}) as context:
        reader = context.new_page()
        reader.goto(SESSION)
        reader.wait_for_selector(".feed.virtual [data-row]")
        reader.emulate_media(media="print", color_scheme="dark")
        ink = reader.locator(".said").first.evaluate("each => getComputedStyle(each).color")
        assert ink in {"rgb(0, 0, 0)", "rgb(31, 35, 40)"}
        assert reader.locator(".printed-only").inner_text().endswith("/plain")
        # Rows that are not there would be as many empty sheets.
        assert reader.locator(".feed.virtual > div").first.evaluate("each => getComputedStyle(each).display") == "none"
        for name in (".top", ".sections", ".turns", ".rail", "#inspector", ".find-here"):
            assert reader.locator(name).first.is_hidden(), name
        reader.goto(f"{SESSION}/plain")
        folded = reader.locator(".fold:not([open])").first
        assert folded.evaluate("each => each.querySelector('.body').getBoundingClientRect().height") > 20
