"""Files of an MCP-OCS memory, rewritten as version 2 by ``ovillo migrate mcp-ocs-files``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovillo.legacy.mcp_ocs_records import KINDS, normalised
from tests.anything import JSON
from tests.builders import folder_state
from tests.interfaces.cli_runs import CommandLine
from tests.legacy.migrating import line
from tests.legacy.ocs_records import CONVERSATION, INCIDENT, RAN, RUN_LOG, make

__all__ = ["line"]

SHARED = Path(__file__).resolve().parents[3] / "shared" / "fixtures" / "legacy" / "mcp-ocs-memory"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "memory")


def rewritten(line: CommandLine, root: Path, *more: str) -> dict[str, Any]:
    ran = line.run("migrate", "mcp-ocs-files", str(root), "--json", *more)
    assert ran.code == 0, ran.err
    report: dict[str, Any] = ran.json()
    return report


@pytest.mark.requirement("MIGRATE-6")
@pytest.mark.parametrize(
    ("record", "required"),
    [
        (CONVERSATION, ["domain:openshift", "environment:unknown", "kind:conversation"]),
        (RAN, ["domain:openshift", "environment:prod", "kind:tool_exec", "tool:oc_diagnostic_cluster_health"]),
        (INCIDENT, ["domain:operations", "environment:test", "kind:operational"]),
        (RUN_LOG, ["domain:openshift", "environment:prod", "kind:tool_exec", "tool:oc_read_get_pods"]),
    ],
)
def test_each_shape_gets_what_version_2_requires(record: dict[str, Any], required: list[str]) -> None:
    made = normalised(record)
    assert set(required) <= set(made["tags"])
    assert len(made["tags"]) == len(set(made["tags"]))
    assert made["version"] == 2
    assert {name: value for name, value in made.items() if name in record and name not in ("tags", "context")} == {
        name: value for name, value in record.items() if name not in ("tags", "context")
    }


@pytest.mark.requirement("MIGRATE-6")
def test_lists_that_were_written_as_text_are_lists() -> None:
    made = normalised({**CONVERSATION, "tags": "Read, pods ,, PODS", "context": "a, b"})
    assert made["tags"][:2] == ["read", "pods"]
    assert made["context"] == ["a", "b"]
    assert normalised({**CONVERSATION, "context": "a b"})["context"] == ["a", "b"]


@pytest.mark.requirement("MIGRATE-6")
@given(
    st.fixed_dictionaries(
        {"sessionId": st.text(), "timestamp": st.integers()},
        optional={
            "tags": st.one_of(st.text(), st.lists(st.text() | st.sampled_from(["kind:tool_exec", "prod"]))),
            "context": JSON,
            "domain": JSON,
            "environment": JSON,
            "kind": st.one_of(JSON, st.sampled_from(KINDS)),
            "userMessage": st.text(),
            "diagnosticSteps": JSON,
        },
    )
)
def test_version_2_stays_version_2(record: dict[str, Any]) -> None:
    once = normalised(record)
    assert normalised(once) == once


@pytest.mark.requirement("MIGRATE-6")
def test_files_are_rewritten_once_and_their_old_selves_kept(root: Path, line: CommandLine) -> None:
    before = folder_state(root)
    assert rewritten(line, root) == {
        "folder": str(root),
        "dryRun": False,
        "records": 5,
        "changed": 4,
        "unchanged": 0,
        "unread": [],
    }
    after = folder_state(root)
    assert {name.removesuffix(".bak"): data for name, data in after.items() if name.endswith(".bak")} == before
    for name in before:
        held = json.loads(after[name])
        assert all(each["version"] == 2 for each in (held if isinstance(held, list) else [held]))
    second = rewritten(line, root)
    assert (second["changed"], second["unchanged"]) == (0, 4)
    assert folder_state(root) == after


@pytest.mark.requirement("MIGRATE-6")
def test_a_dry_run_touches_no_file(root: Path, line: CommandLine) -> None:
    before = folder_state(root)
    assert rewritten(line, root, "--dry-run")["changed"] == 4
    assert folder_state(root) == before


@pytest.mark.requirement("MIGRATE-6")
def test_a_file_with_anything_else_in_it_is_not_touched(root: Path, line: CommandLine) -> None:
    other = root / "package.json"
    other.write_text('{"name": "mine"}')
    mixed = root / "mixed.json"
    mixed.write_text(json.dumps([RAN, "?"]))
    (root / "broken.json").write_text("[{")
    before = {name: (root / name).read_bytes() for name in ("package.json", "mixed.json", "broken.json")}
    report = rewritten(line, root)
    assert {(each["file"], each["position"]) for each in report["unread"]} == {
        ("package.json", ""),
        ("mixed.json", "[1]"),
        ("broken.json", ""),
    }
    assert {name: (root / name).read_bytes() for name in before} == before


@pytest.mark.requirement("MIGRATE-6")
@pytest.mark.skipif(not SHARED.is_dir(), reason="the real memory is not part of the project")
def test_every_record_of_a_real_memory_becomes_version_2(tmp_path: Path, line: CommandLine) -> None:
    truth = json.loads((SHARED / "ground-truth.json").read_text())
    root = tmp_path / "memory"
    for path in SHARED.rglob("*.json"):
        if path.name != "ground-truth.json":
            copy = root / path.relative_to(SHARED)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    report = rewritten(line, root)
    assert (report["records"], report["changed"], report["unread"]) == (truth["records"], truth["files"], [])
    assert rewritten(line, root)["unchanged"] == truth["files"]
