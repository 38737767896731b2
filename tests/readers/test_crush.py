"""Crush: one database a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from ovillo.model.clock import from_iso
from ovillo.model.records import Author, PartType, SessionKind, ToolStatus, Usage
from ovillo.readers.crush import CrushReader
from tests.readers.conftest import Golden

READER = CrushReader()
ROOT = "dddddddd-0000-4000-8000-000000000001"
CHILD = "m-00000002$$call-agent"


@pytest.mark.requirement("READ-135")
def test_sessions_are_read_without_those_that_only_make_titles(golden: Golden) -> None:
    found, (place,) = golden(READER, "crush/project")
    assert set(found.sessions) == {ROOT, CHILD} == found.inventory
    session = found.sessions[ROOT].session
    assert (session.title, session.model, session.provider) == ("Cap the delay", "claude-sonnet-4", "anthropic")
    assert session.directory == str(place.path.parent.parent)
    assert found.sessions[ROOT].prompts[0] == "Plafonne le délai"


@pytest.mark.requirement("READ-136")
def test_a_sub_agent_is_linked_to_the_call_its_id_names(golden: Golden) -> None:
    found, _ = golden(READER, "crush/project")
    child = found.sessions[CHILD].session
    assert (child.parent_id, child.kind) == (ROOT, SessionKind.SUBAGENT)
    assert [(t.name, t.output, t.child_session_id) for t in found.sessions[ROOT].tools] == [
        ("agent", "net.py:4", CHILD),
        ("edit", "edited", None),
        ("shell", "1 failed", None),
    ]
    assert found.sessions[ROOT].tools[2].status is ToolStatus.ERROR


@pytest.mark.requirement("READ-137")
def test_a_summary_supersedes_what_stands_before_it(golden: Golden) -> None:
    found, _ = golden(READER, "crush/project")
    session = found.sessions[ROOT]
    assert [m.id[-1] for m in session.messages if m.superseded] == ["1", "2", "4"]
    (summary,) = [m for m in session.messages if m.is_summary]
    assert (summary.id, summary.author) == ("m-00000005", Author.SYNTHETIC)
    assert session.text(PartType.COMPACTION) == ["Résumé: le délai est plafonné."]


@pytest.mark.requirement("READ-138")
def test_versions_of_a_file_become_patches_and_times_are_scaled_by_magnitude(golden: Golden) -> None:
    found, _ = golden(READER, "crush/project")
    (patch,) = [part.patch for part in found.sessions[ROOT].parts if part.patch]
    assert (patch.files, patch.additions, patch.deletions) == (("/srv/app/net.py",), 1, 1)
    assert patch.diff is not None
    assert "+    return min(30, 2 ** n)" in patch.diff
    assert found.sessions[ROOT].session.created_at == from_iso("2026-11-19T10:00:00Z")
    assert found.sessions[CHILD].messages[0].created_at == from_iso("2026-11-19T10:00:06Z")


@pytest.mark.requirement("READ-138")
def test_cost_is_the_session_s_and_context_sizes_are_no_usage(golden: Golden) -> None:
    found, _ = golden(READER, "crush/project")
    session = found.sessions[ROOT]
    assert session.usage == Usage()
    assert [m.cost for m in session.messages if m.cost is not None] == [0.25]
    assert session.session.metadata["last_request"]["prompt_tokens"] == 1500
    assert [m.error for m in session.messages if m.error] == ["Overloaded 529"]


@pytest.mark.requirement("READ-139")
def test_databases_are_found_above_the_working_directory_and_in_a_list(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".crush").mkdir(parents=True)
    (tmp_path / "repo" / "src").mkdir()
    (tmp_path / "repo" / ".crush" / "crush.db").write_bytes(b"")
    (tmp_path / "data" / "crush").mkdir(parents=True)
    (tmp_path / "data" / "crush" / "crush.db").write_bytes(b"")
    env = {"PWD": str(tmp_path / "repo" / "src"), "XDG_DATA_HOME": str(tmp_path / "data")}
    assert {place.path.parent.name for place in READER.discover(env, tmp_path / "nobody")} == {".crush", "crush"}
