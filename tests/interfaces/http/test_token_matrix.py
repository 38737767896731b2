"""Every route times every way of coming in, where the token of the user counts; and what every answer says of being kept."""

from __future__ import annotations

import http.client
from collections.abc import Iterator

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from ovillo.interfaces.http.mounts import ServerContext
from ovillo.model.clock import system_clock
from ovillo.security.browser_passes import BrowserPasses
from ovillo.security.keys import mint
from ovillo.security.own_token import OwnToken
from tests.interfaces.http.guarded import MOUNTS
from tests.interfaces.http.operations import Operation, filled, operations_of
from tests.interfaces.http.serving import Answer, Site, serving
from tests.interfaces.opened import settings_for

_POSTED, _SOCKETS = ("/mcp", "/mcp/v1/execute"), ("/ws", "/mcp/ws")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    settings = settings_for(tmp_path_factory.mktemp("home"), auth="token", toolsets=("all",))
    with serving(settings, *MOUNTS) as running:
        yield running


@pytest.fixture(scope="module")
def operations(site: Site) -> list[Operation]:
    return operations_of(site)


@pytest.fixture(scope="module")
def cookie(site: Site) -> str:
    around = site.context
    assert isinstance(around, ServerContext)
    passes = BrowserPasses(OwnToken(around.settings.data_dir), around.instance, system_clock)
    return passes.cookie(int(site.host.rpartition(":")[2]))


def _ask(site: Site, operation: Operation, body: object = None, **headers: str) -> Answer:
    return Site(site.host).ask(operation.method, filled(operation.path), body, **headers)


@pytest.mark.requirement("ACCESS-20")
def test_every_operation_asks_for_the_token_first(site: Site, operations: list[Operation]) -> None:
    token = site.credential["Authorization"]
    for each in operations:
        for wrong in (None, f"Bearer {mint()[1]}", f"{token}a", token[:-1], token.replace("Bearer", "Basic")):
            headers = {} if wrong is None else {"Authorization": wrong}
            for body in (None, b"{not json"):
                assert _ask(site, each, body, **headers).status == (200 if each.scope is None else 401), each
    assert {each.path for each in operations if each.scope is None} == {"/healthz", "/readyz", "/openapi.json", "/docs"}


@pytest.mark.requirement("ACCESS-20", "ACCESS-25")
def test_token_and_cookie_let_into_every_operation_and_a_foreign_page_into_none(
    site: Site, operations: list[Operation], cookie: str
) -> None:
    own = f"http://{site.host}"
    for each in operations:
        if each.scope is None:
            continue
        for headers in (
            {"Authorization": site.credential["Authorization"]},
            {"Cookie": cookie, "Origin": own, "Sec_Fetch_Site": "same-origin"},
        ):
            answer = _ask(site, each, each.body, **headers)
            assert answer.status != 401, each
            assert answer.status < 500, (each, answer.body)
            assert "www-authenticate" not in answer.headers, each
        for foreign in (
            {"Origin": "http://localhost:3000"},
            {"Sec_Fetch_Site": "same-site"},
            {"Sec_Fetch_Site": "cross-site"},
            {"Origin": "https://evil.example"},
        ):
            assert _ask(site, each, each.body, Cookie=cookie, **foreign).status == 403, (each, foreign)
        if each.method != "GET":
            assert _ask(site, each, each.body, Cookie=cookie).status == 403, each


@pytest.mark.requirement("ACCESS-20")
def test_every_other_route_asks_for_the_token(site: Site, cookie: str) -> None:
    for path in _POSTED:
        for method in ("GET", "POST", "DELETE", "PUT"):
            for headers in ({}, {"Authorization": "Bearer wrong"}, {"Cookie": "ovillo_1=a.b.c"}):
                assert Site(site.host).ask(method, path, b"{}", **headers).status == 401
        assert site.ask("POST", path, b"{}").status not in {401, 403}
        assert Site(site.host).ask("POST", path, b"{}", Cookie=cookie).status == 403
    for path in _SOCKETS:
        for wrong in ({}, {"Authorization": "Bearer wrong"}, {"Cookie": "ovillo_1=a.b.c"}):
            with pytest.raises(InvalidStatus) as refused:
                connect(f"ws://{site.host}{path}", additional_headers=wrong)
            assert refused.value.response.status_code == 401
        with connect(f"ws://{site.host}{path}", additional_headers=site.credential):
            pass


@pytest.mark.requirement("HTTP-31")
def test_every_answer_but_a_public_one_is_kept_by_no_cache(site: Site, operations: list[Operation]) -> None:
    site.ask("POST", "/api/sessions", {"id": "theirs", "name": "Kept nowhere"})
    for each in operations:
        if each.scope is None:
            continue
        for answer in (_ask(site, each), site.ask(each.method, filled(each.path), each.body)):
            assert "no-store" in answer.headers.get("cache-control", ""), (each, answer.status)
    site.ask("POST", "/api/sessions", {"id": "theirs", "name": "Kept nowhere"})
    for form in ("json", "markdown", "html", "pdf", "jsonl"):
        exported = site.ask("POST", "/api/sessions/theirs/export", {"format": form})
        assert (exported.status, exported.headers["cache-control"]) == (200, "no-store")
    for path in ("/nothing", "/mcp"):
        assert "no-store" in site.ask("GET", path).headers["cache-control"]
    for path in _POSTED:
        assert "no-store" in site.ask("POST", path, b"{}").headers["cache-control"]
    assert "no-store" in _stream(site).headers["cache-control"]


def _stream(site: Site) -> http.client.HTTPResponse:
    connection = site.connect()
    connection.request("GET", "/api/changes", headers={"Accept": "text/event-stream", **site.credential})
    answer = connection.getresponse()
    connection.close()
    answer.close()
    return answer
