"""Export and import through their doors: HTTP, tools, command line."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ovillo.interfaces.rest import ENDPOINTS
from ovillo.interfaces.services import Services
from ovillo.interfaces.tools.contract import ToolResult
from ovillo.interfaces.tools.registry import Registry
from ovillo.model.limits import MAX_ANSWER_BYTES
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.security.principals import LOCAL, ROLES, Principal
from ovillo.sessions.transfer.documents import MAX_IMPORT_BYTES
from tests.builders import delta, message, session
from tests.interfaces.cli_runs import CommandLine
from tests.interfaces.http.serving import Site, serving
from tests.interfaces.opened import call as dispatched
from tests.interfaces.opened import made, record

__all__ = ["made"]

TOOLS = Registry.choose(("continuity",))
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
LEAST = {
    "version": "1.0",
    "exportedAt": 1,
    "session": {"name": "Pago", "provider": "xai", "messages": [{"role": "user", "content": f"hola {TOKEN}"}]},
}


def ask(services: Services, tool: str, **arguments: Any) -> Mapping[str, Any]:
    result = call(services, tool, **arguments)
    assert not result.is_error, result.text
    assert result.structured is not None
    return result.structured


def call(services: Services, tool: str, **arguments: Any) -> ToolResult:
    return dispatched(services, tool, registry=TOOLS, **arguments)


@pytest.fixture
def one(made: Services) -> Services:
    about = session("ses_a", title="Payments / fall 2026")
    record(made, delta(message("m1", 1, "what fails"), message("m2", 2, "the validation"), about=about))
    return made


@pytest.fixture
def site(one: Services) -> Iterator[Site]:
    with serving(one.settings, endpoints=ENDPOINTS, services=one) as site:
        yield site


# --- HTTP


@pytest.mark.requirement("TRANSFER-14")
def test_a_mirrored_session_is_exported_over_http_in_every_form(site: Site) -> None:
    plain = site.ask("POST", "/api/sessions/ses_a/export")
    assert plain.status == 200
    assert set(plain.json) == {"data", "filename"}
    assert plain.json["filename"].startswith("session-payments-fall-2026-20")
    assert json.loads(plain.json["data"])["session"]["name"] == "Payments / fall 2026"
    assert site.ask("POST", "/api/sessions/ses_a/export", {"format": "markdown"}).json["data"].startswith("# ")
    pdf = site.ask("POST", "/api/sessions/ses_a/export?format=pdf").json
    assert (pdf["encoding"], base64.b64decode(pdf["data"])[:5]) == ("base64", b"%PDF-")
    assert site.ask("POST", "/api/sessions/ses_a/export?format=docx").status == 404
    assert site.ask("POST", "/api/sessions/nowhere/export").status == 404


@pytest.mark.requirement("TRANSFER-14")
@pytest.mark.parametrize("as_text", [True, False])
def test_an_import_over_http_answers_with_the_new_session(site: Site, as_text: bool) -> None:
    answer = site.ask("POST", "/api/sessions/import", {"data": json.dumps(LEAST) if as_text else LEAST})
    assert answer.status == 201, answer.body
    body = answer.json
    assert (body["session"]["name"], body["session"]["provider"], body["session"]["readOnly"]) == ("Pago", "xai", False)
    assert body["redacted"] == {"github_token": 1}
    assert answer.headers["location"] == f"/api/sessions/{body['session']['id']}"
    assert TOKEN not in answer.body.decode()
    said = site.ask(
        "POST", f"{answer.headers['location']}/messages", {"role": "user", "content": "on"}, Idempotency_Key="k"
    )
    assert (said.status, said.json["seq"]) == (201, 2)


@pytest.mark.requirement("TRANSFER-14")
@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({}, 422, "data"),
        ({"data": 5}, 422, "data is no session"),
        ({"data": None}, 422, "data is no session"),
        ({"data": "x"}, 422, "no JSON"),
        ({"data": {**LEAST, "version": "9"}}, 422, "Known"),
        ({"data": {"version": "1.0", "session": {"messages": [{"role": "x"}]}}}, 422, "session.messages[0].role"),
        (b'{"data": ' + b"[" * 50_000, 400, "deep"),
        (b'{"data": "' + b"x" * (MAX_IMPORT_BYTES + 1) + b'"}', 413, "67,108,864"),
        (b'{"data": "' + b"x" * (MAX_IMPORT_BYTES + 100_000) + b'"}', 413, ""),
    ],
)
def test_a_hostile_import_over_http_is_refused_and_changes_nothing(
    site: Site, one: Services, body: Any, status: int, words: str
) -> None:
    before = one.store.last_change(NS)
    answer = site.ask("POST", "/api/sessions/import", body, Content_Type="application/json")
    assert answer.status == status
    assert answer.kind == "application/problem+json"
    assert words in answer.json["detail"] + answer.json.get("hint", "")
    assert one.store.last_change(NS) == before


# --- tools


@pytest.mark.requirement("TRANSFER-15")
def test_a_small_session_is_exported_into_the_answer_and_imported_from_it(one: Services) -> None:
    answer = ask(one, "export_session", session_id="ses_a")
    assert answer["complete"]
    assert answer["bytes"] == len(answer["data"].encode())
    for data in (answer["data"], json.loads(answer["data"])):
        back = ask(one, "import_session", data=data)
        assert (back["name"], back["messages"], back["parts"]) == ("Payments / fall 2026", 2, 2)
    assert ask(one, "export_session", session_id="ses_a", format="markdown")["data"].startswith("# ")
    assert ask(one, "import_session", data=LEAST)["redacted"] == {"github_token": 1}


@pytest.mark.requirement("TRANSFER-15")
@pytest.mark.parametrize("form", ["json", "pdf"])
def test_what_an_answer_cannot_hold_is_told_how_to_get(one: Services, form: str) -> None:
    record(one, delta(*(message(f"b{n}", n, "words " * 500, of="ses_b") for n in range(40))))
    result = call(one, "export_session", session_id="ses_b", format=form)
    assert result.structured is not None
    assert not result.structured["complete"]
    assert "data" not in result.structured
    assert f"ovillo session export ses_b --format {form}" in result.text
    assert "POST /api/sessions/ses_b/export" in result.text
    assert len(json.dumps(result.structured)) + len(result.text) < MAX_ANSWER_BYTES


@pytest.mark.requirement("TRANSFER-15")
def test_a_bad_import_is_an_error_that_says_where_and_readers_may_not_import(one: Services) -> None:
    bad = {"version": "1.0", "session": {"messages": [{"role": "user", "content": 1}]}}
    result = call(one, "import_session", data=bad)
    assert result.is_error
    assert "session.messages[0].content" in result.text
    assert call(one, "import_session", data=[]).is_error
    reader = Principal("reader", LOCAL.namespace, ROLES["reader"])
    assert TOOLS.dispatch(one, reader, "import_session", {"data": LEAST}).error_code == "permission_denied"
    assert not TOOLS.dispatch(one, reader, "export_session", {"session_id": "ses_a"}).is_error


# --- command line


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    home = tmp_path / "home"
    home.mkdir()
    return CommandLine(capsys, home, tmp_path / "data")


@pytest.mark.requirement("TRANSFER-16")
def test_a_session_goes_out_into_a_file_and_comes_back(cli: CommandLine, tmp_path: Path) -> None:
    first = cli.run("session", "create", "Pago").out.strip()
    assert cli.run("session", "append", first, "hola").code == 0
    assert cli.run("session", "export", first, "--output", str(tmp_path)).code == 0
    (file,) = tmp_path.glob("session-pago-*.json")
    ran = cli.run("session", "import", str(file))
    assert (ran.code, ran.err) == (0, "Imported 1 message.\n")
    second = ran.out.strip()
    assert second != first
    assert "hola" in cli.run("session", "show", second).out
    told = cli.run("session", "import", str(file), "--json").json()
    assert (told["messages"], told["parts"], told["redacted"]) == (1, 1, {})


@pytest.mark.requirement("TRANSFER-16")
def test_turns_are_called_as_their_file_and_damage_is_exit_code_2(cli: CommandLine, tmp_path: Path) -> None:
    turns = tmp_path / "session_abc123.jsonl"
    turns.write_text(f'{{"role":"user","content":"{TOKEN}"}}\n{{"role":"assistant","content":"b"}}\n')
    ran = cli.run("session", "import", str(turns))
    assert ran.err == "Imported 2 messages; 1 secret masked before storing.\n"
    assert "session_abc123" in cli.run("session", "list").out
    turns.write_text('{"role":"user","content":"a"}\n{"role":"root","content":"b"}\n')
    refused = cli.run("session", "import", str(turns))
    assert refused.code == 2
    assert "line 2.role" in refused.err
    assert cli.run("session", "import", str(tmp_path / "nowhere")).code == 2
    assert len(cli.run("session", "list", "--json").json()["sessions"]) == 1
