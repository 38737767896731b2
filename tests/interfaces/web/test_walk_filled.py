"""A browser walks the screens that show what a session, an agent or a person put in: filled with it, planted markup included.

``test_walk`` does the same over the demo, where memory and code are empty."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from ovillo.interfaces.services import Services
from ovillo.model.memories import Origin, Provenance
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Role
from tests.builders import delta, message, session
from tests.interfaces.http.serving import Site
from tests.interfaces.opened import record
from tests.interfaces.web.browser import axe_findings, faults_of
from tests.interfaces.web.keyed import keyed_site
from tests.interfaces.web.test_walk import VIEWS

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_PLANTED = "<img src=x onerror=alert(1)><script>document.title='taken'</script>\u202e\x1b[31m [x](javascript:alert(1))"
#: ``{fact}``, ``{waits}``, ``{key}`` are ids.
ADDRESSES = (
    "/memory",
    "/memory?q=port",
    "/memory/items/{fact}",
    "/memory/forget?id={fact}",
    "/memory/review",
    "/memory/contradictions",
    "/memory/recall?prompt=which+port",
    "/code",
    "/code?q=add_tax",
    "/code/discussed?name=add_tax",
    "/code/shop/graph",
    "/code/shop/file?file=tax.py",
    "/code/shop/tax.py:add_tax",
    "/resolve?session=ses_a&q=esa+funci%C3%B3n",
    "/admin/keys",
    "/admin/keys/{key}",
    "/admin/audit",
    "/login",
)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, dict[str, str]]]:
    folder = tmp_path_factory.mktemp("code") / "shop"
    folder.mkdir()
    (folder / "tax.py").write_text(
        f'"""Taxes."""\n\nfrom rates import rate\n\n\ndef add_tax(amount):\n    """{_PLANTED[:60]}"""\n    return rate()\n'
    )
    (folder / "rates.py").write_text("def rate():\n    return 2\n")
    with keyed_site(tmp_path_factory.mktemp("pages")) as (services, _, admin):
        services.code.index(NS, folder)
        said = message("m0", 0, f"why does add_tax() fail in tax.py? {_PLANTED}", role=Role.USER, of="ses_a")
        record(services, delta(said, about=session("ses_a", directory=str(folder), title=_PLANTED)))
        services.entities.entities_of_session(NS, said.session_id)
        yield admin, _ids(services)


def _ids(services: Services) -> dict[str, str]:
    semantic = services.memories.semantic
    of = Provenance(Origin.MODEL, author=_PLANTED, session_id="ses_a", message_id="m0", evidence=_PLANTED)
    fact = semantic.store(NS, "port", f"the port is 8765 {_PLANTED}", of).memory.id
    semantic.store(NS, "port", "the port is 9000", Provenance())
    waits = semantic.store(NS, "port", f"the port is 1 {_PLANTED}", Provenance(Origin.WEB, source=_PLANTED)).memory.id
    services.memories.episodic.record(NS, summary="a very long word " + "x" * 400, content=None, provenance=of)
    return {"fact": fact, "waits": waits, "key": services.keys.list()[0].id}


@pytest.mark.requirement("WEB-7")
@pytest.mark.parametrize("view", VIEWS)
def test_a_filled_screen_is_accessible_and_runs_nothing_of_what_was_recorded(
    filled: tuple[Site, dict[str, str]], browser: Browser, view: str
) -> None:
    site, ids = filled
    found: dict[str, list[str]] = {}
    with browser.new_context(base_url=site.url, extra_http_headers=dict(site.credential), **VIEWS[view]) as context:
        page = context.new_page()
        page.on("dialog", lambda dialog: found.setdefault("dialog", []).append(dialog.message))
        faults = faults_of(page)
        for address in ADDRESSES:
            answer = page.goto(address.format(**ids), wait_until="networkidle")
            assert answer is not None
            problems = [] if answer.status == 200 else [f"status {answer.status}"]
            problems += axe_findings(page) + faults
            faults.clear()
            if not page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
                problems.append("it scrolls sideways")
            if "taken" in page.title().split(" ")[0] or page.locator("main img[src='x']").count():
                problems.append("markup of a recorded text became markup of the page")
            if "\u202e" in page.content() or "\x1b" in page.content():
                problems.append("a hidden character is shown as it is")
            if page.locator("main a[href^='javascript']").count():
                problems.append("a link runs script")
            if problems:
                found[address] = problems
    assert found == {}


@pytest.mark.requirement("WEB-3")
@pytest.mark.parametrize("language", ["es", "fr", "pt"])
def test_no_text_is_missing_on_a_filled_screen(filled: tuple[Site, dict[str, str]], language: str) -> None:
    site, ids = filled
    for address in ADDRESSES:
        shown = site.ask("GET", address.format(**ids), Accept="text/html", Accept_Language=language)
        assert shown.status == 200, address
        assert f'<html lang="{language}"' in shown.body.decode(), address
