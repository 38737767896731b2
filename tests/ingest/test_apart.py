"""Several sessions of one client id stay several; copies and continuations of one stay one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ovillo.app import open_services
from ovillo.interfaces.services import Services
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import SessionId
from ovillo.model.sessions import SessionFilter
from tests.interfaces.opened import settings_for
from tests.readers import rollouts

SID = "11111111-2222-4333-8444-555555555555"
Line = dict[str, Any]


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    opened = open_services(settings_for(tmp_path))
    yield opened
    opened.close()


def said(uuid: str, words: str, second: int, parent: str | None = None) -> Line:
    return {
        "type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": SID, "isSidechain": False, "cwd": "/w",
        "timestamp": f"2026-11-21T04:00:{second:02}.000Z", "message": {"role": "user", "content": words},
    }  # fmt: skip


def put(home: Path, project: str, *lines: Line, root: str = ".claude") -> Path:
    path = home / root / "projects" / project / f"{SID}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def found(services: Services) -> dict[str, list[str]]:
    rows = services.store.sessions.find(NS, SessionFilter(), 50)
    return {
        row.session.id: [
            part.text for message in services.store.sessions.messages(NS, row.session.id) for part in message.parts
        ]
        for row in rows
    }


@pytest.mark.requirement("INGEST-21")
@pytest.mark.parametrize("root", [".claude", ".config/claude"], ids=["two projects", "two homes"])
def test_two_sessions_that_share_nothing_but_their_id_stay_two(services: Services, tmp_path: Path, root: str) -> None:
    put(tmp_path, "-a", said("a1", "of the first", 1), said("a2", "more of the first", 2, "a1"))
    other = put(tmp_path, "-b", said("b1", "of the second", 3), root=root)
    services.ingest.scan()
    two = {SID: ["of the first", "more of the first"], f"{SID}~2": ["of the second"]}
    assert found(services) == two
    second = services.catalog.resolve(NS, f"{SID}~2").session
    assert (second.source_id, second.metadata.get("deleted_at_source")) == (SID, None)
    put(tmp_path, "-b", said("b1", "of the second", 3), said("b2", "and on", 9, "b1"), root=root)
    services.ingest.scan()
    assert found(services) == {**two, f"{SID}~2": ["of the second", "and on"]}
    other.unlink()
    (tmp_path / ".claude/projects/-a" / f"{SID}.jsonl").unlink()
    services.ingest.scan()
    assert services.catalog.resolve(NS, f"{SID}~2").session.metadata["deleted_at_source"] is True


@pytest.mark.requirement("INGEST-21")
def test_a_copy_and_what_goes_on_behind_another_file_are_the_same_session(services: Services, tmp_path: Path) -> None:
    start = [said("a1", "one", 1), said("a2", "two", 2, "a1")]
    put(tmp_path, "-a", *start)
    put(tmp_path, "-copy", *start[:1])
    put(tmp_path, "-longer", *start, said("a3", "three", 3, "a2"))
    put(tmp_path, "-moved", said("a4", "four", 4, "a3"))
    services.ingest.scan()
    assert found(services) == {SID: ["one", "two", "three", "four"]}


@pytest.mark.requirement("INGEST-21")
def test_two_that_go_different_ways_behind_a_common_beginning_are_a_session_and_its_fork(
    services: Services, tmp_path: Path
) -> None:
    start = [said("a1", "one", 1), said("a2", "two", 2, "a1")]
    put(tmp_path, "-a", *start, said("a3", "left", 3, "a2"))
    put(tmp_path, "-b", *start, said("b3", "right", 4, "a2"))
    services.ingest.scan()
    assert found(services) == {SID: ["one", "two", "left"], f"{SID}~2": ["one", "two", "right"]}
    fork = services.catalog.resolve(NS, f"{SID}~2").session
    assert (fork.forked_from, fork.fork_point) == (SID, "a2")


@pytest.mark.requirement("INGEST-21")
def test_an_archived_thread_is_the_thread_and_another_one_of_its_id_is_not(services: Services, tmp_path: Path) -> None:
    lines = (rollouts.meta(), rollouts.prompt("one"), rollouts.said("answer"))
    rollouts.home(tmp_path, *lines)
    rollouts.home(tmp_path, *lines, folder="archived_sessions")
    services.ingest.scan()
    assert found(services) == {rollouts.SID: ["one", "answer"]}
    foreign = (rollouts.meta(), rollouts.prompt("something else"), rollouts.said("altogether"))
    rollouts.home(tmp_path, *foreign, folder="archived_sessions/2025")
    services.ingest.scan()
    assert found(services) == {rollouts.SID: ["one", "answer"], f"{rollouts.SID}~2": ["something else", "altogether"]}


@pytest.mark.requirement("INGEST-21")
def test_scanning_real_homes_gives_no_session_a_second_name(fixtures: Path, services: Services, tmp_path: Path) -> None:
    for client in ("claude-code", "codex", "gemini-cli", "opencode-sqlite", "opencode-json"):
        shutil.copytree(fixtures / client / "home", tmp_path, dirs_exist_ok=True)
    shutil.copytree(tmp_path / ".claude", tmp_path / ".config/claude", dirs_exist_ok=True)
    services.ingest.scan()
    assert [name for name in found(services) if "~" in name] == []
    assert services.store.sessions.get(NS, SessionId(SID)) is None
