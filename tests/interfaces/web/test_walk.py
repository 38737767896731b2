"""A browser walks every screen, in light, dark and on a phone: no fault in the console, nothing for axe to find.

A new screen is a line in ``SCREENS``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.interfaces.http.serving import Site
from tests.interfaces.web.browser import axe_findings, faults_of, let_in

if TYPE_CHECKING:
    from playwright.sync_api import Browser

#: A session by its title, with a compaction and a failed call in it.
SESSION = "/sessions/Total%20con%20IVA%20un%20c%C3%A9ntimo%20por%20encima"
SCREENS = (
    "/sessions",
    "/stats",
    "/sources",
    "/sources/checks",
    "/time",
    "/stats?range=year&by=model",
    "/sessions?q=factura",
    "/sessions?q=nothing+of+the+kind",
    "/memory",
    "/memory/review",
    "/memory/contradictions",
    "/memory/recall?prompt=which+tax",
    SESSION,
    f"{SESSION}?at=4",
    f"{SESSION}/outline",
    f"{SESSION}/find?q=total",
    f"{SESSION}/lineage",
    "/sessions/Rate%20limiter%20lets%20bursts%20through/lineage",
    f"{SESSION}/compare?other=Reserva%20de%20stock%20al%20pagar",
    "/live",
    "/code",
    "/code?q=login",
    "/resolve",
    "/admin",
    "/admin/keys",
    "/admin/audit?check=true",
    "/admin/backups",
    "/admin/retention?days=1&mirrored=true",
    "/admin/settings",
)
VIEWS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 800}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 800}},
    "phone": {"color_scheme": "light", "viewport": {"width": 390, "height": 844}, "has_touch": True},
}


@pytest.mark.requirement("WEB-7")
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("path", SCREENS)
def test_a_screen_shows_without_a_fault_and_is_accessible(site: Site, browser: Browser, path: str, view: str) -> None:
    with let_in(browser, site, **VIEWS[view]) as context:
        page = context.new_page()
        faults = faults_of(page)
        answer = page.goto(path, wait_until="networkidle")
        assert answer is not None
        assert answer.status == 200
        assert axe_findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "it scrolls sideways"
        assert faults == []


@pytest.mark.requirement("WEB-8")
def test_keys_alone_lead_everywhere_and_can_be_switched_off(site: Site, browser: Browser) -> None:
    with let_in(browser, site) as context:
        page = context.new_page()
        page.goto("/sessions")
        page.keyboard.press("j")
        page.keyboard.press("j")
        assert page.locator(".row.here").count() == 1
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "find"
        page.keyboard.type("?j")
        assert page.input_value("#find") == "?j"
        page.keyboard.press("Escape")
        page.locator("body").click(position={"x": 5, "y": 5})
        page.keyboard.press("?")
        assert page.locator("#keys[open]").count() == 1
        page.keyboard.press("Escape")
        page.keyboard.press("Control+k")
        page.keyboard.type("factura")
        page.keyboard.press("Enter")
        page.wait_for_url("**/sessions?q=factura")
