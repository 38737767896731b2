"""No markup of theirs is live: exports, pictures, pages, headers, figures and logs made of hostile text."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import msgspec
import pytest
from markdown_it import MarkdownIt
from prometheus_client.parser import text_string_to_metric_families

from ovillo.app import open_services
from ovillo.interfaces.http.logs import JsonLines, TextLines
from ovillo.interfaces.http.metrics import Metrics
from ovillo.interfaces.http.pages import docs_page
from ovillo.interfaces.rest import ENDPOINTS
from ovillo.interfaces.services import Services
from ovillo.interfaces.web.exporting import own_script
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.sessions.drafts import SessionDraft
from ovillo.sessions.transfer.service import FORMATS
from tests.interfaces.http.serving import Site, serving
from tests.interfaces.opened import settings_for
from tests.security.marks import live_in, raw_in
from tests.security.planting import FILE_NAME, HOSTILE, MARK, PLAIN, SECOND, planted

_SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def planted_services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Services, Path]]:
    folder = tmp_path_factory.mktemp("planted")
    services = open_services(settings_for(folder))
    code = planted(services, folder)
    services.recorder.create(NS, SessionDraft(name=HOSTILE, id="own"))
    yield services, code
    services.close()


@pytest.fixture(scope="module")
def site(planted_services: tuple[Services, Path]) -> Iterator[Site]:
    services, _ = planted_services
    with serving(services.settings, endpoints=ENDPOINTS, services=services) as site:
        yield site


def _html(data: bytes) -> None:
    page = data.decode().replace(f"<script>{own_script()}</script>", "", 1)
    assert MARK in page
    assert live_in(page) == []
    assert raw_in(page) == []


def _markdown(data: bytes) -> None:
    text = data.decode()
    assert MARK in text
    assert raw_in(text) == []
    # A reader that lets tags through shows what a careless one would.
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    assert live_in(reader.render(text)) == []


def _pdf(data: bytes) -> None:
    for action in (b"/JavaScript", b"/JS", b"/Launch", b"/URI", b"/EmbeddedFile"):
        assert action not in data
    if shutil.which("pdftotext") is None:
        assert not os.environ.get("OVILLO_REQUIRE_PDFTOTEXT"), "apt-get install poppler-utils"
        return
    for program in (["pdftotext", "-enc", "UTF-8", "-", "-"], ["pdfinfo", "-enc", "UTF-8", "-"]):
        text = subprocess.run(program, input=data, capture_output=True, check=True).stdout.decode()
        # A page ends with a form feed, which is the program's.
        assert raw_in(text.replace("\f", "\n")) == []
        assert MARK in text or program[0] == "pdfinfo"


def _json(data: bytes) -> None:
    assert HOSTILE[:40] in json.dumps(json.loads(data), ensure_ascii=False).replace("\\u0000", "\x00") or MARK in str(
        data
    )


def _lines(data: bytes) -> None:
    assert [json.loads(line) for line in data.decode().split("\n") if line]


_CHECKS = {"html": _html, "md": _markdown, "pdf": _pdf, "json": _json, "jsonl": _lines}


def test_every_form_of_an_export_is_looked_at() -> None:
    assert set(FORMATS) == set(_CHECKS)


@pytest.mark.requirement("SEC-42")
@pytest.mark.parametrize("form", FORMATS)
def test_nothing_recorded_is_live_in_an_export(form: str, planted_services: tuple[Services, Path]) -> None:
    services, _ = planted_services
    for session_id in (PLAIN, SECOND, "own"):
        made = services.transfer.export(NS, session_id, form)
        assert made.filename.isprintable()
        assert "/" not in made.filename
        _CHECKS[form](b"".join(made.chunks))


@pytest.mark.requirement("SEC-42")
@pytest.mark.parametrize(
    "text",
    [
        "``` `x`\n<script>zqx</script>",
        "a ` b\n` <img src=x onerror=zqx> `",
        "\\` <img src=x onerror=zqx> `",
        "```\nnever closed <script>",
        "![zqx](https://example.org/x.png)",
        "![zqx][r]\n\n[r]: https://example.org/x.png",
        "<details><summary>zqx</quoted>",
        "> ```\n<script>zqx</script>",
        "- ```\n<script>zqx</script>",
        "~~~\n```\n~~~\n<script>zqx</script>",
        "    ```\n<script>zqx</script>",
    ],
)
def test_markdown_that_somebody_wrote_ends_where_it_ends(text: str) -> None:
    from ovillo.sessions.transfer.markdown_form import contained

    reader = MarkdownIt("commonmark", {"html": True})
    assert live_in(reader.render(contained(text) + "\n\nafter\n")) == []
    assert "<p>after</p>" in reader.render(contained(text) + "\n\nafter\n")


@pytest.mark.requirement("SEC-42")
def test_code_in_markdown_is_left_as_it_is() -> None:
    from ovillo.sessions.transfer.markdown_form import contained

    text = "Use `<div>` and\n```html\n<p>x</p>\n```\nsee <https://example.org> [a](https://example.org)"
    assert contained(text) == text


@pytest.mark.requirement("SEC-42")
def test_a_picture_of_modules_is_sound_whatever_files_are_called(planted_services: tuple[Services, Path]) -> None:
    services, code = planted_services
    picture = services.code.picture(NS, str(code))
    root = ElementTree.fromstring(picture)
    assert MARK in picture
    assert raw_in(picture) == []
    assert {each.tag.removeprefix(_SVG) for each in root.iter()} <= {
        *("svg", "title", "style", "defs", "marker", "path", "rect", "text", "g"),
    }


@pytest.mark.requirement("SEC-42")
def test_no_answer_over_http_carries_recorded_text_in_a_header_or_as_a_page(site: Site) -> None:
    for each in ENDPOINTS:
        for value in (PLAIN, HOSTILE, SECOND):
            path = each.path
            for name in ("{id}", "{name}", "{message}", "{key}", "{number}", "{version}"):
                path = path.replace(name, quote(value, safe=""))
            if each.method == "GET":
                path += f"?query={quote(value, safe='')}" if "search" in path else ""
            body = None if each.method in ("GET", "DELETE") else {HOSTILE: HOSTILE}
            if each.method == "DELETE" and value != HOSTILE:
                continue
            answer = site.ask(each.method, path, body, X_Request_ID="zqx<script>")
            assert answer.status < 500, (path, answer.body)
            told = "\n".join(f"{name}: {value}" for name, value in answer.headers.items())
            told_by_us = re.sub(r'"session-[\w-]+\.\w+"|x-request-id: zqx<script>', "", told)
            assert MARK not in told_by_us, path
            assert raw_in(told) == []
            if answer.body:
                assert answer.headers["x-content-type-options"] == "nosniff", (path, answer.status)
                if answer.kind == "image/svg+xml":
                    assert "default-src 'none'" in answer.headers["content-security-policy"]
                else:
                    assert "json" in answer.kind, path
                    json.loads(answer.body)


def _filled(value: Any) -> Any:
    if isinstance(value, dict):
        told = ("summary", "description", "title", "version", "name", "default", "enum")
        return {
            key: HOSTILE if key in told and isinstance(item, str) and key != "name" else _filled(item)
            for key, item in value.items()
        }
    return [_filled(item) for item in value] if isinstance(value, list) else value


@pytest.mark.requirement("SEC-42")
def test_the_page_of_the_api_shows_what_it_is_given(site: Site) -> None:
    document = site.ask("GET", "/openapi.json").json
    page = docs_page(_filled(document)).decode()
    assert MARK in page
    assert live_in(page) == []
    assert raw_in(page) == []


@pytest.mark.requirement("SEC-42")
def test_figures_keep_their_lines_whatever_a_label_holds() -> None:
    metrics = Metrics(lambda: None)
    metrics.count("GET", HOSTILE, 200, 0.1)
    names = {family.name for family in text_string_to_metric_families(metrics.text().decode())}
    assert not any(MARK in name for name in names)


@pytest.mark.requirement("SEC-42")
@pytest.mark.parametrize("form", [JsonLines, TextLines])
def test_a_record_of_the_log_is_one_line(form: type[logging.Formatter]) -> None:
    record = logging.makeLogRecord({"name": "ovillo", "msg": "failed: %s", "args": (HOSTILE,), "route": FILE_NAME})
    line = form().format(record)
    assert raw_in(line) == []
    assert "\n" not in line
    if form is JsonLines:
        assert msgspec.json.decode(line)["message"] == f"failed: {HOSTILE}"
