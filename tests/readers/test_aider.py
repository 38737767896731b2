"""Aider: a history file with two chats, told apart and read without taking answers for prompts."""

from __future__ import annotations

from pathlib import Path

import pytest

from ovillo.model.clock import from_iso
from ovillo.model.records import PartType, SessionId, Usage
from ovillo.readers.aider import FILE_NAME, AiderReader
from tests.readers.conftest import Golden
from tests.readers.harvest import harvest, harvest_home

READER = AiderReader()


@pytest.mark.requirement("READ-105")
def test_each_start_line_begins_a_session_with_its_model_version_and_local_time(golden: Golden) -> None:
    found, (place,) = golden(READER, "aider/two-chats")
    first, second = sorted((one.session for one in found.sessions.values()), key=lambda s: s.created_at or 0)
    assert first.created_at == from_iso("2026-11-20T09:15:02Z")
    assert (first.model, first.version, first.directory) == (
        "anthropic/claude-sonnet-4",
        "0.86.1",
        str(place.path.parent),
    )
    assert second.model == "gpt-4o"
    # Only the newest session can have been written when the file was.
    assert (second.updated_at or 0) > (second.created_at or 0)
    assert first.updated_at == first.created_at


@pytest.mark.requirement("READ-106")
def test_headings_and_quotations_of_an_answer_are_not_prompts_or_notices(golden: Golden) -> None:
    found, _ = golden(READER, "aider/two-chats")
    first = min(found.sessions.values(), key=lambda one: one.session.created_at or 0)
    assert first.prompts == ["Cap the delay at 30 seconds\n\nand keep the signature", "/undo"]
    (answer,) = first.answers
    assert "#### Why a cap\n> Waiting longer helps nobody." in answer.parts[0].text
    assert "#### not a prompt" in answer.parts[0].text


@pytest.mark.requirement("READ-106")
def test_a_file_stripped_of_trailing_spaces_is_still_read(tmp_path: Path) -> None:
    text = "# aider chat started at 2026-11-20 09:15:02\n\n#### one\n#### two\n\nanswer\n\n> Tokens: 1k sent, 5 received.\n"
    (tmp_path / FILE_NAME).write_text(text, encoding="utf-8")
    (session,) = harvest_home(READER, tmp_path).sessions.values()
    assert session.prompts == ["one\ntwo"]
    assert session.usage == Usage(1000, 5)


@pytest.mark.requirement("READ-107")
def test_tokens_edits_and_commits_belong_to_the_answer_before_them(golden: Golden) -> None:
    found, _ = golden(READER, "aider/two-chats")
    first = min(found.sessions.values(), key=lambda one: one.session.created_at or 0)
    (answer,) = first.answers
    assert answer.usage == Usage(1000, 181, 0, 200, 1100)
    assert answer.cost == 0.0123
    assert [part.patch.files for part in answer.parts if part.patch] == [("net.py",)]
    assert answer.metadata["commits"] == [{"hash": "1a2b3c4", "message": "feat: cap the retry delay"}]


@pytest.mark.requirement("READ-108")
def test_histories_are_found_from_the_working_directory_its_git_root_and_a_list(tmp_path: Path) -> None:
    deep = tmp_path / "repo" / "src" / "app"
    deep.mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir()
    other = tmp_path / "other"
    other.mkdir()
    for folder in (tmp_path / "repo", other):
        (folder / FILE_NAME).write_text("# aider chat started at 2026-11-20 09:15:02\n", encoding="utf-8")
    env = {"PWD": str(deep), "OVILLO_AIDER_DIRS": f"{other}:{tmp_path / 'nowhere'}"}
    found = {place.path.parent for place in READER.discover(env, tmp_path)}
    assert found == {tmp_path / "repo", other}


@pytest.mark.requirement("READ-109")
def test_ids_stay_the_same_when_the_file_grows(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    path.write_text("# aider chat started at 2026-11-20 09:15:02\n\n#### one  \n\nyes\n", encoding="utf-8")
    (place,) = READER.discover({}, tmp_path)
    first = harvest(READER, place)
    with path.open("a", encoding="utf-8") as file:
        file.write("\n#### two  \n\nno\n\n# aider chat started at 2026-11-20 09:15:02\n\n#### same second  \n")
    again = harvest(READER, place, first.cursor)
    (known,) = first.sessions
    assert set(first.sessions[known].by_id) < set(again.sessions[known].by_id)
    assert set(again.sessions) == {known, f"{known}-2"} == again.inventory
    assert set(harvest(READER, place, only=SessionId(known)).sessions) == {known}


@pytest.mark.requirement("READ-109")
def test_binary_and_foreign_files_give_no_session(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"\x00\x01\x02" * 100)
    found = harvest_home(READER, tmp_path)
    assert found.sessions == {}
    assert [item.reason for item in found.skipped] == ["binary data, not a Markdown history"]
    (tmp_path / FILE_NAME).write_text("# my notes\n\n## nothing of aider here\n", encoding="utf-8")
    assert harvest_home(READER, tmp_path).sessions == {}


@pytest.mark.requirement("READ-106")
def test_words_of_the_client_are_system_messages(golden: Golden) -> None:
    found, _ = golden(READER, "aider/two-chats")
    first = min(found.sessions.values(), key=lambda one: one.session.created_at or 0)
    notices = [m.parts[0].text for m in first.messages if m.role == "system"]
    assert notices[-1] == "Removed: 1a2b3c4 feat: cap the retry delay"
    assert all(part.type is PartType.TEXT for m in first.messages for part in m.parts if m.role == "system")


@pytest.mark.requirement("READ-152")
def test_each_session_of_a_file_says_by_itself_how_its_prompts_are_marked(tmp_path: Path) -> None:
    stripped = "# aider chat started at 2026-11-19 09:00:00\n\n#### typed in an old version\n\nanswer\n"
    intact = "# aider chat started at 2026-11-20 09:00:00\n\n#### typed in a new one  \n\n#### A heading\n\nanswer\n"
    for text in (stripped + intact, intact + stripped):
        (tmp_path / FILE_NAME).write_text(text, encoding="utf-8")
        found = harvest_home(READER, tmp_path)
        prompts = [one.prompts for one in sorted(found.sessions.values(), key=lambda x: x.session.created_at or 0)]
        assert prompts == [["typed in an old version"], ["typed in a new one"]]


@pytest.mark.requirement("READ-153")
def test_prompts_without_an_answer_between_them_stay_apart(tmp_path: Path) -> None:
    for end in ("  ", ""):
        text = (
            f"# aider chat started at 2026-11-20 09:15:02\n\n#### /add net.py{end}\n\n#### cap the delay{end}\n####{end}\n"
            f"#### at 30 s{end}\n\n#### and test it{end}\n\ndone\n"
        )
        (tmp_path / FILE_NAME).write_text(text, encoding="utf-8")
        (session,) = harvest_home(READER, tmp_path).sessions.values()
        assert session.prompts == ["/add net.py", "cap the delay\n\nat 30 s", "and test it"]
        assert len(session.answers) == 1
