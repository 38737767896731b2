"""What MCP-OCS and other memories remembered, taken over by ``ovillo migrate``."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from ovillo.interfaces.services import Services
from ovillo.model.memories import Layer, Memory, MemoryFilter, MemoryState, Origin, Trust
from ovillo.security.principals import LOCAL
from tests.builders import folder_state
from tests.interfaces.cli_runs import CommandLine
from tests.legacy.memory_databases import AT, claude_mem, memory_service
from tests.legacy.migrating import line, opened, run
from tests.legacy.ocs_records import CONVERSATION, INCIDENT, make

__all__ = ["line"]

NS = LOCAL.namespace
SHARED = Path(__file__).resolve().parents[3] / "shared" / "fixtures" / "legacy" / "mcp-ocs-memory"


def everything(services: Services) -> list[Memory]:
    return services.store.memories.find(NS, MemoryFilter(), 10_000)


@pytest.mark.requirement("MIGRATE-7")
def test_records_become_episodes_with_their_times_tags_and_whole_content(tmp_path: Path, line: CommandLine) -> None:
    root = make(tmp_path / "memory")
    report = run(line, "mcp-ocs", root)
    assert (report["new"], report["whole"]) == ({"memory": 5}, True)
    with opened(line) as services:
        found = everything(services)
        assert Counter(each.kind for each in found) == {"tool_exec": 3, "operational": 1, "conversation": 1}
        incident = next(each for each in found if each.key == "auth-failure")
        said = next(each for each in found if each.kind == "conversation")
    assert incident.layer is Layer.EPISODIC
    assert incident.created_at == INCIDENT["timestamp"]
    assert "The token had expired" in incident.text
    assert {"environment:test", "domain:operations", "kind:operational"} <= set(incident.tags)
    assert {name: incident.value[name] for name in INCIDENT if name != "tags"} == {
        name: value for name, value in INCIDENT.items() if name != "tags"
    }
    assert said.provenance.session_id == CONVERSATION["sessionId"]
    assert said.provenance.origin is Origin.IMPORT
    assert said.trust is Trust.UNTRUSTED


@pytest.mark.requirement("MIGRATE-7")
def test_rewriting_the_files_makes_no_memory_new(tmp_path: Path, line: CommandLine) -> None:
    root = make(tmp_path / "memory")
    run(line, "mcp-ocs", root)
    assert line.run("migrate", "mcp-ocs-files", str(root)).code == 0
    report = run(line, "mcp-ocs", root)
    assert (report["new"], report["present"]) == ({}, {"memory": 5})


@pytest.mark.requirement("MIGRATE-7")
@pytest.mark.skipif(not SHARED.is_dir(), reason="the real memory is not part of the project")
def test_every_record_of_a_real_memory_is_there(tmp_path: Path, line: CommandLine) -> None:
    truth = json.loads((SHARED / "ground-truth.json").read_text())
    report = run(line, "mcp-ocs", SHARED)
    assert report["new"] == {"memory": truth["records"]}
    assert [each["file"] for each in report["unread"]] == ["ground-truth.json"]
    with opened(line) as services:
        found = everything(services)
    assert len(found) == truth["records"]
    assert min(each.created_at for each in found) == truth["earliest_timestamp_ms"]
    assert max(each.created_at for each in found) == truth["latest_timestamp_ms"]
    operational = [each for each in found if "incidentId" in each.value]
    assert len(operational) == truth["records_by_kind"]["operational"]
    assert len({each.value["incidentId"] for each in operational}) == truth["distinct_incident_ids"]
    sessions = {each.value["sessionId"] for each in found if "sessionId" in each.value}
    assert len(sessions) == truth["distinct_session_ids"]
    domains = Counter(str(each.value.get("domain")) for each in found)
    assert domains == truth["domain_field"]
    assert run(line, "mcp-ocs", SHARED)["new"] == {}


@pytest.mark.requirement("MIGRATE-8")
def test_claude_mem_brings_what_was_observed_and_summed_up(tmp_path: Path, line: CommandLine) -> None:
    home = claude_mem(tmp_path / "mem" / "claude-mem.db").parent
    before = folder_state(home)
    report = run(line, "claude-mem", home)
    assert report["new"] == {"memory": 2}
    assert {each["position"] for each in report["unread"]} == {"observation 2", "user_prompts"}
    assert folder_state(home) == before
    with opened(line) as services:
        fix, summary = sorted(everything(services), key=lambda each: each.created_at)
    assert (fix.layer, fix.kind, fix.project, fix.created_at) == (Layer.EPISODIC, "bugfix", "shop", AT)
    assert "round_money is called once now" in fix.text
    assert fix.value["files_modified"] == '["payments.py"]'
    assert "Completed: Fee is right" in summary.text
    assert run(line, "claude-mem", home)["new"] == {}


@pytest.mark.requirement("MIGRATE-8")
def test_facts_of_another_memory_wait_for_a_person(tmp_path: Path, line: CommandLine) -> None:
    home = memory_service(tmp_path / "svc" / "sqlite_vec.db").parent
    assert run(line, "mcp-memory-service", home)["new"] == {"memory": 2}
    with opened(line) as services:
        found = {each.value["content_hash"]: each for each in everything(services)}
        assert services.memories.semantic.query(NS, "deploys Tuesdays", viewer=LOCAL.name) == []
    assert set(found) == {"h1", "h2"}
    assert (found["h1"].layer, found["h1"].tags, found["h1"].created_at) == (Layer.SEMANTIC, ("ops", "deploy"), AT)
    assert found["h1"].updated_at == AT + 60_000
    assert all(each.state is MemoryState.PROPOSED for each in found.values())


@pytest.mark.requirement("MIGRATE-8")
def test_notes_of_basic_memory_keep_their_head_observations_and_relations(tmp_path: Path, line: CommandLine) -> None:
    root = tmp_path / "main"
    (root / "ops").mkdir(parents=True)
    (root / "ops" / "Deploys.md").write_text(
        "---\ntitle: Deploys\ntype: note\npermalink: ops/deploys\ntags:\n- ops\n- release\ncreated: 2025-03-01T10:00:00Z\n---\n\n"
        "# Deploys\n\n- [decision] Deploy on Tuesdays #calm (after the outage)\n- [x] done\n- depends_on [[Rollback]]\n"
    )
    (root / "plain.md").write_text("Just a line.\n")
    assert run(line, "basic-memory", root)["new"] == {"memory": 2}
    with opened(line) as services:
        found = {each.key: each for each in everything(services)}
    note = found["Deploys"]
    assert note.created_at == 1_740_823_200_000
    assert note.value["observations"] == [
        {"category": "decision", "text": "Deploy on Tuesdays #calm (after the outage)"}
    ]
    assert note.value["relations"] == [{"type": "depends_on", "to": "Rollback"}]
    assert set(note.tags) == {"ops", "release", "calm"}
    assert found["plain"].text == "Just a line."


@pytest.mark.requirement("MIGRATE-8")
def test_claude_codes_own_memory_knows_its_kind_and_project(tmp_path: Path, line: CommandLine) -> None:
    project = tmp_path / "claude" / "projects" / "-srv-shop"
    (project / "memory").mkdir(parents=True)
    (project / "s.jsonl").write_text(json.dumps({"type": "user", "cwd": "/srv/shop"}) + "\n")
    (project / "memory" / "MEMORY.md").write_text("- [Tests](tests.md) - how tests run\n")
    (project / "memory" / "tests.md").write_text(
        '---\nname: tests\ndescription: "How tests run"\nmetadata:\n  type: feedback\n---\n\nRun them with make test.\n'
    )
    assert run(line, "claude-code", tmp_path / "claude")["new"] == {"memory": 2}
    with opened(line) as services:
        found = {each.key: each for each in everything(services)}
    note = found["tests"]
    assert (note.kind, note.project, note.text) == (
        "convention",
        "/srv/shop",
        "How tests run\n\nRun them with make test.",
    )


@pytest.mark.requirement("MIGRATE-8")
@pytest.mark.parametrize("system", ["claude-mem", "mcp-memory-service"])
def test_a_damaged_database_is_said_and_nothing_is_taken(system: str, tmp_path: Path, line: CommandLine) -> None:
    (tmp_path / "claude-mem.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 5_000)
    report = run(line, system, tmp_path)
    assert (report["new"], len(report["unread"])) == ({}, 1)
