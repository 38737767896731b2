"""MCP-HUB v5, v6 and V10, taken over by ``ovillo migrate mcp-hub``."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ovillo.model.records import Author, Namespace, SessionId
from ovillo.security.principals import LOCAL
from tests.builders import folder_state
from tests.interfaces.cli_runs import CommandLine
from tests.legacy.migrating import command, line, opened, run

__all__ = ["line"]

NS: Namespace = LOCAL.namespace


@pytest.fixture
def hub(fixtures: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(fixtures / "mcp-hub-v6", tmp_path / "hub"))


def truth(hub: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((hub / "ground-truth.json").read_text())
    return found


def ms(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


@pytest.mark.requirement("MIGRATE-1")
def test_sessions_come_over_with_their_ids_their_times_and_every_line(hub: Path, line: CommandLine) -> None:
    expected = truth(hub)
    report = run(line, "mcp-hub", hub)
    assert report["whole"]
    with opened(line) as services:
        for name, facts in expected["sessions"].items():
            row = services.store.sessions.get(NS, SessionId(name))
            assert row is not None
            messages = services.store.sessions.messages(NS, row.session.id)
            assert len(messages) == facts["lines"]
            roles = [message.role.value for message in messages]
            assert {role: roles.count(role) for role in set(roles)} == facts["roles"]
            assert messages[0].created_at == ms(facts["first_timestamp"])
            assert messages[-1].created_at == ms(facts["last_timestamp"])
            assert row.session.type is not None
            assert row.session.type.value == facts["type_from_id"]
            assert row.session.created_at == ms(facts["created_from_id"])
            lines = (hub / facts["file"]).read_text().splitlines()
            assert ["".join(p.text for p in m.parts) for m in messages] == [json.loads(x)["content"] for x in lines]
        people = sum(
            message.author is Author.HUMAN
            for name in (*expected["sessions"], *expected["sessions_v10"])
            for message in services.store.sessions.messages(NS, SessionId(name))
        )
        assert people == expected["totals"]["real_user_messages"]


@pytest.mark.requirement("MIGRATE-1")
def test_exchanges_become_two_messages_and_a_session_of_a_head_alone_stays(hub: Path, line: CommandLine) -> None:
    expected = truth(hub)["sessions_v10"]
    run(line, "mcp-hub", hub)
    with opened(line) as services:
        fees = services.store.sessions.get(NS, SessionId("fees"))
        assert fees is not None
        assert fees.session.type is not None
        assert fees.session.type.value == expected["fees"]["type"]
        messages = services.store.sessions.messages(NS, SessionId("fees"))
        assert len(messages) == expected["fees"]["messages"]
        assert {name for m in messages for name in m.metadata.get("entities", ())} == set(expected["fees"]["entities"])
        empty = services.store.sessions.get(NS, SessionId("empty"))
        assert empty is not None
        assert services.store.sessions.messages(NS, SessionId("empty")) == []


@pytest.mark.requirement("MIGRATE-1")
def test_an_exchange_that_was_saved_again_stands_once(hub: Path, line: CommandLine) -> None:
    fees = hub / "data-v10" / "sessions" / "fees.jsonl"
    fees.write_text(fees.read_text() * 3)
    run(line, "mcp-hub", hub)
    with opened(line) as services:
        assert len(services.store.sessions.messages(NS, SessionId("fees"))) == 6


@pytest.mark.requirement("MIGRATE-2")
def test_a_second_run_changes_nothing_and_the_old_files_stay_as_they_are(hub: Path, line: CommandLine) -> None:
    before = folder_state(hub)
    first = run(line, "mcp-hub", hub)
    assert first["new"]["session"] == 5
    with opened(line) as services:
        position = services.store.changes.last(NS)
    second = run(line, "mcp-hub", hub)
    assert second["new"] == {}
    assert second["present"] == first["new"]
    with opened(line) as services:
        assert services.store.changes.last(NS) == position
    assert folder_state(hub) == before


@pytest.mark.requirement("MIGRATE-2")
def test_a_dry_run_says_the_same_and_writes_nothing(hub: Path, line: CommandLine) -> None:
    report = run(line, "mcp-hub", hub, "--dry-run")
    assert report["new"] == {"session": 5, "code folder": 1}
    assert report["backup"] is None
    with opened(line) as services:
        assert services.store.sessions.get(NS, SessionId("fees")) is None
    assert run(line, "mcp-hub", hub)["new"] == report["new"]


@pytest.mark.requirement("MIGRATE-2")
def test_the_database_as_it_was_is_kept_before_the_first_write_only(hub: Path, line: CommandLine) -> None:
    first = run(line, "mcp-hub", hub)
    kept = Path(first["backup"])
    assert kept.is_file()
    assert kept.stat().st_mode & 0o77 == 0
    assert run(line, "mcp-hub", hub)["backup"] is None
    assert line.run("restore", str(kept), "--yes").code == 0
    with opened(line) as services:
        assert services.store.sessions.get(NS, SessionId("fees")) is None


@pytest.mark.requirement("MIGRATE-2")
def test_a_session_that_was_gone_on_with_here_stays_as_it_is(hub: Path, line: CommandLine) -> None:
    run(line, "mcp-hub", hub)
    assert line.run("session", "append", "fees", "and then?").code == 0
    report = run(line, "mcp-hub", hub)
    assert report["whole"]
    assert report["new"] == {}
    with opened(line) as services:
        assert len(services.store.sessions.messages(NS, SessionId("fees"))) == 7


@pytest.mark.requirement("MIGRATE-2")
def test_another_session_of_the_same_name_is_left_alone_and_said(hub: Path, line: CommandLine) -> None:
    assert line.run("session", "create", "mine", "--id", "fees").code == 0
    report = run(line, "mcp-hub", hub)
    assert [(each["name"], each["kind"]) for each in report["left"]] == [("fees", "session")]
    assert not report["whole"]
    with opened(line) as services:
        assert services.store.sessions.messages(NS, SessionId("fees")) == []


@pytest.mark.requirement("MIGRATE-3")
def test_damage_costs_the_damaged_line_and_is_listed(hub: Path, line: CommandLine) -> None:
    broken = hub / "data" / "sessions" / "sess_bugfix_20251119093015.jsonl"
    lines = broken.read_bytes().splitlines()
    broken.write_bytes(
        b"\n".join([lines[0], b'{"role": "user", "con', b"[1]", b'{"role": "cook", "content": "x"}', *lines[1:]])
    )
    (hub / "data" / "sessions" / "bad.meta.json").write_text("{" * 5000)
    report = run(line, "mcp-hub", hub)
    places = {(each["file"], each["position"]) for each in report["unread"]}
    own = "data/sessions/sess_bugfix_20251119093015.jsonl"
    assert places == {(own, "line 2"), (own, "line 3"), (own, "line 4"), ("data/sessions/bad.meta.json", "")}
    with opened(line) as services:
        assert len(services.store.sessions.messages(NS, SessionId("sess_bugfix_20251119093015"))) == 6


@pytest.mark.requirement("MIGRATE-3")
def test_links_out_of_the_folder_are_not_followed(hub: Path, line: CommandLine, tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    outside.write_text(json.dumps({"role": "user", "content": "not yours"}) + "\n")
    (hub / "data" / "sessions" / "linked.jsonl").symlink_to(outside)
    run(line, "mcp-hub", hub)
    with opened(line) as services:
        assert services.store.sessions.get(NS, SessionId("linked")) is None


@pytest.mark.requirement("MIGRATE-3")
def test_an_index_cannot_choose_folders_elsewhere(hub: Path, line: CommandLine, tmp_path: Path) -> None:
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    elsewhere.mkdir()
    (elsewhere / "private.py").write_text("def private(): ...\n")
    facts = hub / "data" / "code_index" / "metadata.json"
    facts.write_text(json.dumps({"indexed_directories": [str(elsewhere), "project"]}))
    report = run(line, "mcp-hub", hub)
    assert str(elsewhere) in {each["position"] for each in report["unread"]}
    with opened(line) as services:
        assert [Path(root.path).name for root in services.code.roots(NS)] == ["project"]


@pytest.mark.requirement("MIGRATE-3")
def test_secrets_are_masked_and_a_second_run_finds_them_masked(hub: Path, line: CommandLine) -> None:
    secret = "ghp_" + "aB3dE5fG7hI9" * 3
    (hub / "data" / "sessions" / "hot.jsonl").write_text(
        json.dumps({"role": "user", "content": f"push with {secret}", "timestamp": "2025-11-20T10:00:00"}) + "\n"
    )
    assert run(line, "mcp-hub", hub)["whole"]
    assert run(line, "mcp-hub", hub)["new"] == {}
    with opened(line) as services:
        (message,) = services.store.sessions.messages(NS, SessionId("hot"))
        assert secret not in message.parts[0].text
        assert "push with" in message.parts[0].text


@pytest.mark.requirement("MIGRATE-4")
def test_the_indexed_folder_is_read_anew_and_what_the_index_knew_is_there(hub: Path, line: CommandLine) -> None:
    expected = truth(hub)["code_index"]
    report = run(line, "mcp-hub", hub)
    assert report["notes"] == []
    with opened(line) as services:
        (_root,) = services.code.roots(NS)
        rows = [row for file in ("ledger.py", "payments.py") for row in services.code.symbols_of(NS, file)]
        found = {f"{Path(row.file).stem}.{row.qualified_name.rpartition(':')[2]}": row for row in rows}
        for name, (first, _) in expected["line_ranges"].items():
            last = name.rpartition(".")[2]
            assert any(row.name == last and row.start_line <= first <= row.end_line for row in found.values()), name
        assert "nightly_report" in {row.name for row in rows}


@pytest.mark.requirement("MIGRATE-4")
def test_definitions_that_are_gone_since_are_said(hub: Path, line: CommandLine) -> None:
    ledger = hub / "project" / "ledger.py"
    ledger.write_text(ledger.read_text().replace("def open_ledger", "def begin_ledger"))
    (note,) = run(line, "mcp-hub", hub)["notes"]
    assert "open_ledger" in note


@pytest.mark.requirement("MIGRATE-4")
def test_a_container_brings_its_documents(fixtures: Path, tmp_path: Path, line: CommandLine) -> None:
    folder = Path(shutil.copytree(fixtures / "mcp-hub-v5", tmp_path / "v5"))
    expected = json.loads((folder / "ground-truth.json").read_text())
    assert run(line, "mcp-hub", folder)["new"] == {"document container": 1}
    assert run(line, "mcp-hub", folder)["new"] == {}
    with opened(line) as services:
        documents = {Path(each.path).name: each for each in services.knowledge.list(NS)}
        assert set(documents) == set(expected["documents"])


@pytest.mark.requirement("MIGRATE-4")
def test_a_container_whose_documents_are_elsewhere_asks_for_their_folder(
    fixtures: Path, tmp_path: Path, line: CommandLine
) -> None:
    source = fixtures / "mcp-hub-v5"
    folder = tmp_path / "v5"
    (folder / "data").mkdir(parents=True)
    shutil.copy(source / "context_vectors.mp4", folder / "data")
    (left,) = run(line, "mcp-hub", folder)["left"]
    assert left["kind"] == "document container"
    assert "3 documents" in left["why"]
    assert run(line, "mcp-hub", folder, "--base", str(source))["whole"]


@pytest.mark.requirement("MIGRATE-2")
def test_a_run_that_was_killed_is_gone_on_with(hub: Path, line: CommandLine) -> None:
    folder = hub / "data" / "sessions"
    for number in range(150):
        said = {"role": "user", "content": f"turn {number} " * 20, "timestamp": "2025-11-20T10:00:00"}
        (folder / f"sess_many_{number:04}.jsonl").write_text((json.dumps(said) + "\n") * 8)
    arguments, environment = command(line, "migrate", "mcp-hub", str(hub), "--no-backup")
    with subprocess.Popen(arguments, env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            with opened(line) as services:
                while process.poll() is None and services.store.sessions.get(NS, SessionId("sess_many_0030")) is None:
                    pass
        finally:
            process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    report = run(line, "mcp-hub", hub)
    assert report["whole"]
    assert 0 < report["present"]["session"] < 155
    assert report["present"]["session"] + report["new"]["session"] == 155
    with opened(line) as services:
        for number in range(150):
            assert len(services.store.sessions.messages(NS, SessionId(f"sess_many_{number:04}"))) == 8


@pytest.mark.requirement("MIGRATE-3")
def test_a_folder_of_something_else_is_said_to_hold_nothing(line: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    nothing = line.run("migrate", "mcp-hub", str(tmp_path / "empty"))
    assert nothing.code == 2
    assert "Nothing of mcp-hub" in nothing.err
    missing = line.run("migrate", "mcp-hub", str(tmp_path / "nowhere"))
    assert missing.code in {3, 4}, missing
