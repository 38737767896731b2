"""Cline, Roo Code and Kilo Code: task folders in the editors' global storage."""

from __future__ import annotations

from pathlib import Path

import pytest

from ovillo.model.records import Author, PartType, Role, ToolStatus, Usage
from ovillo.readers.cline import ClineReader
from tests.readers.conftest import Golden
from tests.readers.harvest import harvest_home

READER = ClineReader()
CLINE = "1795160000000"
ROO = "bbbbbbbb-0000-4000-8000-000000000001"
KILO = "cccccccc-0000-4000-8000-000000000001"


@pytest.mark.requirement("READ-122")
def test_what_people_said_is_told_apart_from_what_the_client_added(golden: Golden) -> None:
    found, _ = golden(READER, "cline/three-variants")
    assert found.sessions[CLINE].prompts == ["Explain retry_delay"]
    assert [m.author for m in found.sessions[CLINE].messages] == [
        Author.HUMAN,
        Author.MODEL,
        Author.SYNTHETIC,
        Author.MODEL,
    ]
    assert found.sessions[CLINE].session.directory == "/srv/app"
    assert found.sessions[ROO].prompts == ["Capa el retraso", "mejor 20 s"]


@pytest.mark.requirement("READ-123")
def test_every_billed_request_is_counted_once(golden: Golden) -> None:
    found, _ = golden(READER, "cline/three-variants")
    session = found.sessions[CLINE]
    assert session.answers[0].usage == Usage(500, 40, 0, 200, 10)
    assert session.answers[1].usage == Usage(600, 20)
    # A third request was billed and never answered.
    assert session.session.metadata["unanswered_usage"]["input"] == 7
    assert session.session.model == "claude-sonnet-4"


@pytest.mark.requirement("READ-124")
def test_native_tool_calls_get_their_results_and_summaries_supersede(golden: Golden) -> None:
    found, _ = golden(READER, "cline/three-variants")
    session = found.sessions[ROO]
    (tool,) = session.tools
    assert (tool.name, tool.input, tool.status) == ("apply_diff", {"path": "net.py"}, ToolStatus.COMPLETED)
    assert [m.superseded for m in session.messages] == [True, True, False, False, False]
    assert session.text(PartType.COMPACTION) == ["Summary: the delay was capped."]
    assert [m.role for m in session.messages if m.is_summary] == [Role.ASSISTANT]


@pytest.mark.requirement("READ-125")
@pytest.mark.parametrize(
    ("base", "env"),
    [
        (".config/VSCodium", {}),
        ("Library/Application Support/Code - Insiders", {}),
        ("AppData/Roaming/Cursor", {}),
        ("xdg/Code", {"XDG_CONFIG_HOME": "xdg"}),
        ("roaming/Code", {"APPDATA": "roaming"}),
    ],
)
def test_tasks_are_found_in_every_editor_on_every_system(base: str, env: dict[str, str], tmp_path: Path) -> None:
    tasks = tmp_path / base / "User" / "globalStorage" / "saoudrizwan.claude-dev" / "tasks"
    tasks.mkdir(parents=True)
    places = READER.discover({name: str(tmp_path / value) for name, value in env.items()}, tmp_path)
    assert [(place.path, place.layout) for place in places] == [(tasks, "cline")]


@pytest.mark.requirement("READ-126")
def test_a_task_without_history_is_read_from_the_panel_and_a_broken_one_is_listed(
    golden: Golden, tmp_path: Path
) -> None:
    found, _ = golden(READER, "cline/three-variants")
    assert found.sessions[KILO].prompts == ["only the panel is left"]
    assert len(found.sessions[KILO].answers) == 1
    task = tmp_path / "home" / ".cline" / "data" / "tasks" / "1795160000001"
    task.mkdir(parents=True)
    (task / "api_conversation_history.json").write_text('[{"role": "user"', encoding="utf-8")
    broken = harvest_home(READER, tmp_path / "home")
    assert broken.sessions == {}
    assert [Path(item.file).name for item in broken.skipped] == ["api_conversation_history.json"]
