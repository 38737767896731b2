"""Health, readiness, metrics, the request log and the description of the interface."""

from __future__ import annotations

import json
import logging
import re
import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import apsw
import jsonschema
import msgspec
import pytest

from ovillo.app import open_services
from ovillo.interfaces import rest
from ovillo.interfaces.http.endpoints import Exchange, Reply
from ovillo.interfaces.http.logs import JsonLines, TextLines
from ovillo.interfaces.http.openapi import openapi_document
from ovillo.interfaces.http.pages import docs_page
from ovillo.interfaces.services import Services
from ovillo.settings import Settings
from tests.builders import delta, message
from tests.interfaces.http.serving import endpoint, serving, settings
from tests.interfaces.opened import made, record

__all__ = ["made", "settings"]


@pytest.mark.requirement("HTTP-8")
def test_the_process_is_healthy_before_the_store_is_open(settings: Settings) -> None:
    may_open = threading.Event()

    def slowly() -> Services:
        assert may_open.wait(20)
        return open_services(settings)

    async def late(call: Exchange[Any, Any]) -> Reply:
        return Reply(call.services.store.health.condition().commits >= 0)

    with serving(settings, endpoints=[endpoint(late)], services=slowly) as site:
        assert site.ask("GET", "/healthz").json["status"] == "ok"
        waiting = site.ask("GET", "/readyz")
        assert (waiting.status, waiting.json["reasons"]) == (503, ["the store is being opened"])
        may_open.set()
        assert site.ask("GET", "/api/things/a").json is True
        assert site.ask("GET", "/readyz").json == {"status": "ready", "reasons": [], "indexedThrough": None}
        assert site.context is not None
        assert site.context.backend.close()


@pytest.mark.requirement("HTTP-8")
def test_readiness_names_what_keeps_the_server_from_serving(made: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(made.settings, services=made) as site:
        # The socket answers before the store is open, and says so.
        while site.ask("GET", "/readyz").json["reasons"] == ["the store is being opened"]:
            time.sleep(0.01)
        assert site.ask("GET", "/readyz").status == 200
        monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**12, 10**12, 1_000_000))
        full = site.ask("GET", "/readyz")
        assert full.status == 503
        assert "disk is almost full (976 KiB left)" in full.json["reasons"][0]
        monkeypatch.undo()
        with apsw.Connection(str(made.settings.database)) as other:
            other.set_busy_timeout(5_000)
            other.pragma("user_version", 9_999)
        assert "another schema" in site.ask("GET", "/readyz").json["reasons"][0]
        made.close()
        assert site.ask("GET", "/readyz").status == 503
        assert site.ask("GET", "/healthz").status == 200


@pytest.mark.requirement("HTTP-9")
def test_metrics_count_requests_by_template_and_tell_of_the_store(made: Services) -> None:
    record(made, delta(message("m1", 1, "hello")))
    with serving(made.settings, endpoints=[endpoint(lambda call: Reply({}))], services=made) as site:
        for name in ("a", "b", "c"):
            site.ask("GET", f"/api/things/{name}")
        site.ask("GET", "/somewhere/else")
        lines: dict[str, str] = {}
        # Background work of the start may still write.
        while lines.get("ovillo_store_queue_depth") != "0.0":
            answer = site.ask("GET", "/metrics")
            assert answer.kind.startswith("text/plain; version=0.0.4")
            text = answer.body.decode()
            lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert lines['ovillo_http_requests_total{method="GET",route="/api/things/{id}",status="200"}'] == "3.0"
    assert lines['ovillo_http_requests_total{method="GET",route="(none)",status="404"}'] == "1.0"
    assert lines['ovillo_http_request_seconds_count{method="GET",route="/api/things/{id}"}'] == "3.0"
    assert (lines["ovillo_sessions"], lines["ovillo_messages"]) == ("1.0", "1.0")
    assert float(lines["ovillo_store_commits_total"]) >= 1
    assert float(lines["ovillo_store_commit_seconds_total"]) > 0
    assert float(lines["ovillo_store_size_bytes"]) > 0
    assert "ovillo_store_unmerged_bytes" in lines
    assert "somewhere" not in text


@pytest.mark.requirement("HTTP-10")
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("trace-1.a_b:c/d", True),
        ("x" * 128, True),
        ("x" * 129, False),
        ("two words", False),
        ("<script>", False),
        ("", False),
    ],
)
def test_a_sane_request_id_is_echoed_and_another_is_replaced(settings: Settings, given: str, kept: bool) -> None:
    with serving(settings) as site:
        for path in ("/healthz", "/nothing"):
            told = site.ask("GET", path, X_Request_ID=given).headers["x-request-id"]
            assert (told == given) is kept
            assert re.fullmatch(r"[0-9a-f]{12}-[0-9a-f]+|" + re.escape(given), told)
        first, second = (site.ask("GET", "/healthz").headers["x-request-id"] for _ in range(2))
        assert first != second


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.INFO, logger="ovillo"):
        yield caplog


@pytest.mark.requirement("HTTP-10")
def test_a_request_is_one_line_of_the_log_without_anything_that_was_said(
    settings: Settings, log: pytest.LogCaptureFixture
) -> None:
    def fail(call: Exchange[Any, Any]) -> Reply:
        raise KeyError(call.body["secret"])

    endpoints = [endpoint(fail, method="POST", body=dict[str, Any])]
    with serving(settings, endpoints=endpoints) as site:
        site.ask("POST", "/api/things/hidden?x=hidden", {"secret": "hidden"}, X_Request_ID="r1", Cookie="hidden")
        site.ask("POST", "/api/things/hidden", {"secret": "hidden"}, X_Request_ID="r2", Authorization="hidden")
    for formatter in (JsonLines(), TextLines()):
        lines = [formatter.format(each) for each in log.records if each.name.startswith("ovillo")]
        assert "hidden" not in "".join(lines)
        assert any("KeyError" in line and "test_monitoring.py" in line for line in lines)
    requests = [json.loads(JsonLines().format(each)) for each in log.records if each.message == "request"]
    assert [each["request_id"] for each in requests] == ["r1", "r2"]
    said = {"level": "info", "method": "POST", "route": "/api/things/{id}", "status": 422, "principal": "anonymous"}
    assert {name: requests[0][name] for name in said} == said
    assert requests[1]["status"] == 500
    assert requests[1]["ms"] >= 0


@pytest.mark.requirement("HTTP-11")
def test_the_description_is_made_from_the_endpoints_and_holds_together(settings: Settings) -> None:
    with serving(settings, endpoints=rest.ENDPOINTS) as site:
        document = site.ask("GET", "/openapi.json").json
    assert document["openapi"] == "3.1.0"
    operations = {
        (method.upper(), path): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    assert {(each.method, each.path) for each in rest.ENDPOINTS} <= set(operations)
    assert {("GET", path) for path in ("/healthz", "/readyz", "/metrics", "/openapi.json", "/docs")} <= set(operations)
    names = [operation["operationId"] for operation in operations.values()]
    assert len(names) == len(set(names))
    for reference in re.findall(r'"\$ref":"#/components/schemas/([^"]+)"', json.dumps(document, separators=(",", ":"))):
        assert reference in document["components"]["schemas"]
    for (_, path), operation in operations.items():
        given = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "path"}
        assert given == set(re.findall(r"\{(\w+)\}", path))
        refused = operation["responses"]["422"]["content"]["application/problem+json"]["schema"]
        assert refused == {"$ref": "#/components/schemas/Problem"}
    assert operations["GET", "/healthz"]["security"] == [{}]
    assert set(document["components"]["securitySchemes"]) == {"bearer", "apiKey"}


@pytest.mark.requirement("HTTP-11")
def test_problems_follow_the_schema_that_describes_them(settings: Settings) -> None:
    with serving(settings, endpoints=rest.ENDPOINTS) as site:
        document = site.ask("GET", "/openapi.json").json
        schema = {**document["components"]["schemas"]["Problem"], "components": document["components"]}
        told = [
            site.ask("GET", "/nothing"),
            site.ask("PUT", "/api/sessions"),
            site.ask("GET", "/api/sessions?limit=x"),
            site.ask("POST", "/api/sessions", b"{", Content_Type="application/json"),
            site.ask("POST", "/api/sessions", b"{}", Content_Type="text/plain"),
            site.ask("GET", "/api/sessions/ses_none"),
            site.ask("GET", "/healthz", Host="evil.example"),
        ]
    for answer in told:
        assert answer.kind == "application/problem+json"
        jsonschema.validate(answer.json, schema)
        assert answer.json["status"] == answer.status
        assert answer.json["requestId"] == answer.headers["x-request-id"]


@pytest.mark.requirement("HTTP-11")
def test_the_page_for_people_lists_every_operation_and_loads_nothing(settings: Settings) -> None:
    with serving(settings, endpoints=rest.ENDPOINTS) as site:
        answer = site.ask("GET", "/docs")
    page = answer.body.decode()
    assert answer.kind == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    for each in rest.ENDPOINTS:
        assert f'id="{each.name}"' in page
        assert f"<code>{each.path}</code>" in page
    assert not re.search(r"<script|<link|<img|@import|https?://", page)


@pytest.mark.requirement("HTTP-11")
def test_a_description_cannot_put_markup_on_the_page() -> None:
    nasty = endpoint(lambda call: Reply(), summary="<script>alert(1)</script>", name='"><b>')
    page = docs_page(openapi_document([nasty])).decode()
    assert "<script>" not in page
    assert '"><b>' not in page


@pytest.mark.requirement("HTTP-12")
def test_the_log_has_two_forms(settings: Settings) -> None:
    assert replace(settings, log_format="text").log_format == "text"
    entry = logging.makeLogRecord({"name": "ovillo.x", "levelname": "WARNING", "msg": "a %s", "args": ("b\nc",)})
    line = JsonLines().format(entry)
    assert "\n" not in line
    assert msgspec.json.decode(line)["message"] == "a b\nc"
    assert TextLines().format(entry) == "WARNING ovillo.x: a b c"
