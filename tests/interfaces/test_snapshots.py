"""Snapshots and upkeep through their doors: tools, HTTP, command line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import apsw
import pytest

from ovillo.interfaces.rest import snapshots as rest
from ovillo.interfaces.services import Services
from ovillo.interfaces.tools.contract import ToolResult
from ovillo.interfaces.tools.registry import Registry
from ovillo.model.limits import MAX_ANSWER_BYTES, MAX_ANSWER_LINES
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.security.principals import LOCAL, Principal
from tests.builders import delta, message, session
from tests.interfaces.cli_runs import CommandLine
from tests.interfaces.http.serving import Site, serving
from tests.interfaces.opened import call as dispatched
from tests.interfaces.opened import made, record

__all__ = ["made"]

TOOLS = Registry.choose(("continuity",))
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def call(services: Services, tool: str, **arguments: Any) -> ToolResult:
    return dispatched(services, tool, registry=TOOLS, **arguments)


def ask(services: Services, tool: str, **arguments: Any) -> Mapping[str, Any]:
    result = call(services, tool, **arguments)
    assert not result.is_error, result.text
    assert result.structured is not None
    return result.structured


@pytest.fixture
def one(made: Services) -> Services:
    about = session("ses_a", title="Payments", metadata={"ticket": "PAY-1", "raw": {"x": 1}})
    record(made, delta(message("m1", 1, "hello"), about=about))
    return made


# --- tools


@pytest.mark.requirement("SNAP-13")
def test_saving_and_restoring_take_and_give_the_fields_of_the_specification(one: Services) -> None:
    content = {"plan": ["a", 1, 1.5, None, True, 10**30], "ñ": {"深": []}}
    saved = ask(one, "session_save", session_id="ses_a", content=content, compression_level=3)
    assert (saved["success"], saved["version"]) == (True, 1)
    assert saved["saved_at"].endswith("Z")
    assert ask(one, "session_save", session_id="ses_a", content={"n": 2})["version"] == 2
    back = ask(one, "session_restore", session_id="ses_a", version=1)
    assert (back["success"], back["version"], back["content"]) == (True, 1, content)
    assert (back["metadata"]["ticket"], back["metadata"]["name"]) == ("PAY-1", "Payments")
    assert "raw" not in back["metadata"]
    newest = call(one, "session_restore", session_id="ses_a")
    assert newest.structured is not None
    assert (newest.structured["content"], newest.structured["complete"]) == ({"n": 2}, True)
    assert '{"n":2}' in newest.text


@pytest.mark.requirement("SNAP-13")
def test_levels_are_the_four_of_the_specification(one: Services) -> None:
    sizes = []
    for level in range(4):
        content = {"level": level, "text": "the same words again " * 100}
        saved = ask(one, "session_save", session_id="ses_a", content=content, compression_level=level)
        sizes.append(saved["stored_bytes"])
    assert sizes[0] > 2_000
    assert max(sizes[1:]) < 200
    assert call(one, "session_save", session_id="ses_a", content={}, compression_level=-1).error_code == "invalid_input"


@pytest.mark.requirement("SNAP-6")
def test_the_answer_says_how_many_secrets_were_masked(one: Services) -> None:
    saved = call(one, "session_save", session_id="ses_a", content={"note": f"use {TOKEN}", "also": TOKEN})
    assert saved.structured is not None
    assert saved.structured["redacted"] == {"github_token": 2}
    assert "2 github_token" in saved.text
    assert TOKEN not in call(one, "session_restore", session_id="ses_a").text


@pytest.mark.requirement("SNAP-5")
def test_errors_say_what_to_do_next(one: Services) -> None:
    unknown = call(one, "session_save", session_id="ses_unknown", content={})
    assert unknown.error_code == "not_found"
    assert call(one, "session_save", session_id="ses_a", content=[1]).error_code == "invalid_input"
    assert call(one, "session_save", session_id="ses_a").error_code == "invalid_input"
    assert "session_save" in call(one, "session_restore", session_id="ses_a").text
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"in": deep}
    assert call(one, "session_save", session_id="ses_a", content=deep).error_code == "limit_exceeded"
    ask(one, "session_save", session_id="ses_a", content={"a": {"b": 1}})
    lost = call(one, "session_restore", session_id="ses_a", path="/a/c")
    assert lost.error_code == "not_found"
    assert "an object with b" in lost.text
    with apsw.Connection(str(one.settings.database)) as db:
        db.execute("UPDATE snapshots SET data = x'00'")
    assert call(one, "session_restore", session_id="ses_a").error_code == "integrity_error"


@pytest.mark.requirement("SNAP-13")
def test_saving_needs_the_right_to_write_and_upkeep_that_to_administer(one: Services) -> None:
    reader = Principal("reader", NS, frozenset({"history:read"}))
    writer = Principal("writer", NS, frozenset({"history:read", "sessions:write"}))
    names = {tool.name for tool in TOOLS.visible(reader)}
    assert "session_restore" in names
    assert not names & {"session_save", "memory_optimize"}
    assert {tool.name for tool in TOOLS.visible(writer)} >= {"session_save", "session_restore"}
    refused = TOOLS.dispatch(one, writer, "memory_optimize", {})
    assert refused.error_code == "permission_denied"
    shown = Registry.choose(("continuity",), read_only=True).visible(LOCAL)
    assert {"session_save", "memory_optimize"}.isdisjoint(tool.name for tool in shown)


def _whole(services: Services, path: str = "") -> Any:
    """A value put together from as many answers as it takes, each within the limits."""
    value: Any = None
    arguments: dict[str, Any] = {"path": path} if path else {}
    while True:
        result = call(services, "session_restore", session_id="ses_a", **arguments)
        assert result.structured is not None, result.text
        answer = result.structured
        for form in (result.text, json.dumps(answer)):
            assert len(form.encode()) < MAX_ANSWER_BYTES
        assert result.text.count("\n") < MAX_ANSWER_LINES
        piece = answer["value"] if path else answer["content"]
        start = answer.get("start", 0)
        for left in answer.get("left_out", []):
            step = left["path"].rsplit("/", 1)[1]
            if isinstance(piece, list):
                piece[int(step) - start] = _whole(services, left["path"])
            else:
                piece[step.replace("~1", "/").replace("~0", "~")] = _whole(services, left["path"])
        value = piece if value is None else value | piece if isinstance(value, dict) else value + piece
        if "nextCursor" not in answer:
            return value
        arguments = {"cursor": answer["nextCursor"]}


@pytest.mark.requirement("SNAP-14")
def test_a_state_of_any_shape_and_size_is_fetched_whole_in_answers_within_the_limits(one: Services) -> None:
    content = {
        "small": 1,
        "text": "línea \n\x01 " * 20_000,
        "items": [{"n": n, "text": "x" * (n % 7) * 400} for n in range(300)],
        "a/b~c": {"deep": ["y" * 60_000, 1, {"z": "w" * 50_000}]},
        "many": {f"key{n}": n for n in range(5_000)},
        "last": None,
    }
    ask(one, "session_save", session_id="ses_a", content=content)
    first = ask(one, "session_restore", session_id="ses_a")
    assert not first["complete"]
    assert "text" not in first["content"]
    assert _whole(one) == content


@pytest.mark.requirement("SNAP-14")
def test_a_cursor_stays_with_its_version_when_a_newer_one_is_saved_meanwhile(one: Services) -> None:
    ask(one, "session_save", session_id="ses_a", content={"items": ["old " * 50] * 500})
    first = ask(one, "session_restore", session_id="ses_a", path="/items")
    ask(one, "session_save", session_id="ses_a", content={"items": []})
    following = ask(one, "session_restore", session_id="ses_a", cursor=first["nextCursor"])
    assert (following["version"], following["value"][0]) == (1, "old " * 50)
    wrong = call(one, "session_restore", session_id="ses_a", version=2, cursor=first["nextCursor"])
    assert wrong.error_code == "invalid_input"


# --- upkeep


def _disk(services: Services) -> int:
    database = services.settings.database
    return sum(path.stat().st_size for path in (database, database.with_name(f"{database.name}-wal")) if path.exists())


@pytest.mark.requirement("SNAP-11")
def test_the_bytes_reported_as_saved_are_those_the_disk_got_back(one: Services) -> None:
    for n in range(30):
        content = {"lines": [f"line {k} of the work, as it was said" for k in range(n * 100)]}
        ask(one, "session_save", session_id="ses_a", content=content, compression_level=0)
    before = _disk(one)
    light = ask(one, "memory_optimize")
    assert light["bytes_saved"] == before - _disk(one)
    medium = ask(one, "memory_optimize", level="medium")
    steps = {step["step"]: step for step in medium["optimization_details"]["steps"]}
    assert steps["snapshots"]["freed_inside"] > 1_000_000
    # Free pages stay in the file until it is written anew: nothing was saved on the disk yet, and it is not claimed.
    assert medium["bytes_saved"] == 0
    assert medium["optimization_details"]["free_inside_after"] > 1_000_000
    middle = _disk(one)
    aggressive = ask(one, "memory_optimize", level="aggressive")
    assert aggressive["bytes_saved"] == middle - _disk(one) > 1_000_000
    again = ask(one, "memory_optimize", level="aggressive")
    assert again["bytes_saved"] == 0
    assert not {step["step"]: step for step in again["optimization_details"]["steps"]}["file"]["done"]
    assert len(ask(one, "session_restore", session_id="ses_a", version=10, path="/lines")["value"]) > 0


@pytest.mark.requirement("SNAP-10")
def test_a_target_session_is_all_that_is_touched(made: Services) -> None:
    record(made, delta(message("m1", 1, "hello")), delta(message("m2", 1, "hello", of="ses_b")))
    for one in ("ses_a", "ses_b"):
        for n in range(5):
            ask(made, "session_save", session_id=one, content={"text": "abc " * n * 500}, compression_level=0)
    done = ask(made, "memory_optimize", target_session="ses_a", level="aggressive")
    left_out = [step["step"] for step in done["optimization_details"]["steps"] if not step["done"]]
    assert left_out == ["contexts", "memories", "index", "file"]
    assert {row.level for row in made.store.snapshots.versions(NS, "ses_a", limit=9)} == {3}  # type: ignore[arg-type]
    assert {row.level for row in made.store.snapshots.versions(NS, "ses_b", limit=9)} == {0}  # type: ignore[arg-type]
    assert call(made, "memory_optimize", target_session="ses_x").error_code == "not_found"
    assert call(made, "memory_optimize", level="extreme").error_code == "invalid_input"


# --- HTTP


@pytest.fixture
def site(one: Services) -> Iterator[Site]:
    with serving(one.settings, endpoints=tuple(rest.routes), services=one) as running:
        yield running


@pytest.mark.requirement("SNAP-15")
def test_states_are_saved_listed_restored_and_compared_over_http(site: Site) -> None:
    base = "/api/sessions/ses_a/snapshots"
    first = site.ask("POST", base, {"content": {"n": 1, "big": 10**30}, "compression_level": 1})
    assert (first.status, first.json["version"], first.headers["location"]) == (201, 1, f"{base}/1")
    large = {"n": 2, "text": ["x" * 1_000 + str(n) for n in range(200)]}
    assert site.ask("POST", base, {"content": large}).json["version"] == 2
    listed = site.ask("GET", f"{base}?limit=1").json
    assert ([x["version"] for x in listed["snapshots"]], listed["total"], listed["next_before"]) == ([2], 2, 2)
    assert site.ask("GET", f"{base}?before=2").json["snapshots"][0]["compression_level"] == 1
    assert site.ask("GET", f"{base}/latest").json["content"] == large
    back = site.ask("GET", f"{base}/1").json
    assert (back["content"], back["metadata"]) == ({"n": 1, "big": 10**30}, {"ticket": "PAY-1"})
    changes = site.ask("GET", f"{base}/1/diff/2").json
    assert [(x["op"], x["path"]) for x in changes["changes"]] == [
        ("remove", "/big"),
        ("replace", "/n"),
        ("add", "/text"),
    ]
    assert (changes["changes"][1]["was"], changes["changes"][1]["value"], changes["complete"]) == (1, 2, True)
    cut = site.ask("GET", f"{base}/1/diff/latest?limit=1").json
    assert (len(cut["changes"]), cut["total"], cut["complete"]) == (1, 3, False)


@pytest.mark.requirement("SNAP-15")
def test_what_is_wrong_over_http_is_a_problem_and_never_a_failure_inside(site: Site) -> None:
    base = "/api/sessions/ses_a/snapshots"
    for method, path, body, status in (
        ("GET", "/api/sessions/ses_x/snapshots", None, 404),
        ("POST", "/api/sessions/ses_x/snapshots", {"content": {}}, 404),
        ("GET", f"{base}/1", None, 404),
        ("GET", f"{base}/one", None, 422),
        ("GET", f"{base}/1/diff/2", None, 404),
        ("GET", f"{base}?limit=0", None, 422),
        ("POST", base, {"content": [1]}, 422),
        ("POST", base, {"content": {}, "compression_level": 9}, 422),
        ("POST", base, {"contents": {}}, 422),
        ("POST", base, b'{"content": {"a": ' * 50_000, 400),
        ("POST", base, b'{"content": {"a": NaN}}', 400),
        ("POST", base, b'{"content": ' + b'{"a": ' * 300 + b"1" + b"}" * 301, 413),
    ):
        answer = site.ask(method, path, body, Content_Type="application/json")
        assert (answer.status, answer.kind) == (status, "application/problem+json"), (path, answer.body)


# --- command line


@pytest.fixture
def cli(one: Services, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(capsys, one.settings.home, one.settings.data_dir)


@pytest.mark.requirement("SNAP-15")
def test_states_are_saved_listed_restored_and_compared_on_the_command_line(cli: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    for content in ({"n": 1, "gone": "g"}, {"n": 2, "new": ["x"] * 30_000}):
        file.write_text(json.dumps(content), "utf-8")
        saved = cli.run("session", "save", "ses_a", str(file))
        assert "Saved version" in saved.out
    assert cli.run("session", "save", "ses_a", str(file), "--level", "0", "--json").json()["version"] == 3
    assert [x["version"] for x in cli.run("session", "snapshots", "ses_a", "--json").json()["snapshots"]] == [3, 2, 1]
    assert "delta of" in cli.run("session", "snapshots", "ses_a").out
    assert cli.run("session", "restore", "ses_a", "--version", "1").json() == {"n": 1, "gone": "g"}
    whole = cli.run("session", "restore", "ses_a", "--json").json()
    assert (whole["version"], len(whole["content"]["new"]), whole["success"]) == (3, 30_000, True)
    target = tmp_path / "back.json"
    assert cli.run("session", "restore", "ses_a", "-o", str(target)).code == 0
    assert json.loads(target.read_text("utf-8")) == whole["content"]
    assert cli.run("session", "restore", "ses_a", "-o", str(target)).code == 6
    shown = cli.run("session", "diff", "ses_a", "1", "2").out
    assert "3 changes" in shown
    assert "~ /n  1 -> 2" in shown
    assert [x["op"] for x in cli.run("session", "diff", "ses_a", "1", "--json").json()["changes"]] == [
        "remove",
        "replace",
        "add",
    ]


@pytest.mark.requirement("SNAP-15")
def test_bad_files_are_named_and_nothing_is_saved(cli: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    for text in (
        "",
        "{",
        "[1]",
        "[" * 100_000,
        '{"a": NaN}',
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    ):
        file.write_text(text, "utf-8")
        ran = cli.run("session", "save", "ses_a", str(file))
        assert ran.code == 2, text[:10]
        assert "Traceback" not in ran.err
    assert cli.run("session", "save", "ses_a", str(tmp_path / "none.json")).code == 2
    assert cli.run("session", "restore", "ses_a").code == 4


@pytest.mark.requirement("SNAP-11")
def test_the_command_line_says_what_was_saved(cli: CommandLine) -> None:
    assert "bytes saved" in cli.run("memory", "optimize").out
    done = cli.run("memory", "optimize", "--level", "aggressive", "--json").json()
    assert done["optimization_details"]["level"] == "aggressive"
    assert cli.run("memory", "optimize", "--session", "ses_x").code == 4
