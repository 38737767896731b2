"""Every trap of the reference page on OpenCode, shown on its real stores with one thing changed."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from ovillo.model.records import (
    Author,
    Message,
    Part,
    PartType,
    Role,
    SessionDelta,
    SessionId,
    SessionKind,
    ToolStatus,
    Usage,
)
from ovillo.readers.foreign_sqlite import opened
from ovillo.readers.opencode.database import TABLES
from tests.readers.opencode_homes import READER, copied, data_folder, read, sources, write_v0

_BIG = "ses_e039f3bc6ffeBPwx5L3ZJQCtJo"
_EMPTY = "ses_e039eca9fffefMFXQayRyYzAXH"


def _tree(home: Path) -> Path:
    return data_folder(home) / "storage"


def _session_file(home: Path, session_id: str = _BIG) -> Path:
    return next(_tree(home).glob(f"session/*/{session_id}.json"))


def _change(file: Path, **fields: object) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | fields))


def _add_message(home: Path, message_id: str, data: dict[str, Any], *parts: dict[str, Any], to: str = _BIG) -> None:
    (_tree(home) / "message" / to / f"{message_id}.json").write_text(json.dumps({"id": message_id, **data}))
    folder = _tree(home) / "part" / message_id
    folder.mkdir(exist_ok=True)
    for i, part in enumerate(parts):
        (folder / f"prt_{i}{message_id}.json").write_text(json.dumps({"id": f"prt_{i}{message_id}", **part}))


def _message(home: Path, message_id: str) -> Message:
    found, _, _ = read(sources(home)[-1])
    return next(m for _, messages in found.values() for m in messages if m.id == message_id)


def _part(home: Path, part: dict[str, Any], role: str = "assistant") -> Part:
    _add_message(home, "msg_zz", {"role": role, "time": {"created": 1_795_235_590_000}}, part)
    return _message(home, "msg_zz").parts[0]


@pytest.fixture
def json_home(fixtures: Path, tmp_path: Path) -> Path:
    return copied(fixtures, "json", tmp_path)


@pytest.fixture
def sqlite_home(fixtures: Path, tmp_path: Path) -> Path:
    return copied(fixtures, "sqlite", tmp_path)


# --- tokens


@pytest.mark.requirement("READ-4")
@pytest.mark.parametrize(
    ("version", "total", "output"),
    [
        ("1.1.65", None, 90),
        ("1.3.15", None, 90),
        ("1.3.16", None, 100),
        ("1.18.33", None, 100),
        ("0.0.0-dev-202601010000", None, 100),
        # A session of an old version that a newer one went on with: the total of each answer decides.
        ("1.1.65", 5 + 100 + 10 + 7, 100),
        ("1.18.33", 5 + 100 + 7, 90),
        # A total that fits neither way decides nothing.
        ("1.18.33", 3, 100),
    ],
)
def test_reasoning_is_taken_out_of_output_where_the_version_or_the_total_says_it_is_in_there(
    json_home: Path, version: str, total: int | None, output: int
) -> None:
    _change(_session_file(json_home), version=version)
    tokens = {"input": 5, "output": 100, "reasoning": 10, "cache": {"read": 7, "write": 0}}
    if total is not None:
        tokens["total"] = total
    _add_message(json_home, "msg_zz", {"role": "assistant", "time": {"created": 1}, "tokens": tokens})
    message = _message(json_home, "msg_zz")
    assert message.usage == Usage(5, output, 10, 7, 0)
    assert message.metadata["raw_usage"]["output"] == 100


# --- lineage


def _fork(home: Path, of: str, session_id: str, title: str, keep: int | None = None, made: int = 0) -> None:
    """What OpenCode does: a new root session, messages copied under new ids with the original times."""
    source = json.loads(_session_file(home, of).read_text())
    made = made or source["time"]["updated"] + 1_000
    source |= {"id": session_id, "title": title, "time": {"created": made, "updated": made}}
    _session_file(home, of).with_name(f"{session_id}.json").write_text(json.dumps(source))
    (_tree(home) / "message" / session_id).mkdir()
    messages = [json.loads(f.read_text()) for f in (_tree(home) / "message" / of).glob("*.json")]
    for i, message in enumerate(sorted(messages, key=lambda m: (m["time"]["created"], m["id"]))[:keep]):
        parts = [json.loads(f.read_text()) for f in sorted((_tree(home) / "part" / message["id"]).glob("*.json"))]
        _add_message(home, f"msg_{session_id}{i:03}", message | {"id": None}, *parts, to=session_id)


@pytest.mark.requirement("READ-5")
def test_a_fork_of_a_fork_names_its_own_origin_and_where_each_message_was_first_said(json_home: Path) -> None:
    title = "Corregir descuentos en calcular_total"
    first = next(s for s, _ in read(sources(json_home)[-1])[0].values() if (s.title or "").endswith("(fork #1)"))
    _add_message(
        json_home,
        "msg_own",
        {"role": "user", "time": {"created": (first.updated_at or 0) + 50}},
        {"type": "text", "text": "said in the fork"},
        to=first.id,
    )
    _fork(json_home, first.id, "ses_second", f"{title} (fork #2)")
    found, _, _ = read(sources(json_home)[-1])
    session, messages = found["ses_second"]
    assert (session.kind, session.forked_from) == (SessionKind.FORK, first.id)
    assert [m.inherited_from for m in messages] == [_BIG] * 12 + [first.id]
    assert session.fork_point == messages[-1].id


@pytest.mark.requirement("READ-5")
def test_a_fork_from_the_middle_shares_only_what_stands_before_it(json_home: Path) -> None:
    _fork(json_home, _BIG, "ses_mid", "Corregir descuentos en calcular_total (fork #1)", keep=5)
    said = {"role": "user", "time": {"created": 1_795_235_700_000}}
    _add_message(json_home, "msg_own", said, {"type": "text", "text": "another way"}, to="ses_mid")
    session, messages = read(sources(json_home)[-1])[0]["ses_mid"]
    assert [m.inherited_from for m in messages] == [_BIG] * 5 + [None]
    assert (session.forked_from, session.fork_point) == (_BIG, messages[4].id)


@pytest.mark.requirement("READ-5")
def test_a_title_alone_makes_no_fork(json_home: Path) -> None:
    _change(_session_file(json_home, _EMPTY), title="Trouver les appels de calcular_total (fork #1)")
    session, messages = read(sources(json_home)[-1])[0][_EMPTY]
    assert (session.kind, session.forked_from) == (SessionKind.ROOT, None)
    assert not any(m.inherited_from for m in messages)


@pytest.mark.requirement("READ-5")
@pytest.mark.parametrize("kind", ["json", "sqlite"])
def test_a_fork_scanned_alone_knows_its_origin_too(fixtures: Path, tmp_path: Path, kind: str) -> None:
    home = copied(fixtures, kind, tmp_path)
    place = sources(home)[-1]
    fork = next(s for s, _ in read(place)[0].values() if (s.title or "").endswith("(fork #1)"))
    (delta,) = [r for r in READER.scan(place, {}, only=fork.id) if isinstance(r, SessionDelta)]
    assert delta.session.forked_from == fork.forked_from is not None


@pytest.mark.requirement("READ-14")
def test_cycles_of_parents_are_read_and_a_session_is_not_its_own_parent(json_home: Path) -> None:
    _change(_session_file(json_home), parentID=_EMPTY)
    _change(_session_file(json_home, _EMPTY), parentID=_BIG)
    other = "ses_e039ed348ffe9EbbloTZm0PLhV"
    _change(_session_file(json_home, other), parentID=other)
    found, _, _ = read(sources(json_home)[-1])
    assert (found[_BIG][0].parent_id, found[_EMPTY][0].parent_id) == (_EMPTY, _BIG)
    assert found[other][0].parent_id is None
    assert found[other][0].warnings


# --- what was said


@pytest.mark.requirement("READ-9")
@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ('"fix the bug"\n', "fix the bug"),
        ('"say \\"hi\\" twice"', 'say "hi" twice'),
        ('"foo" and "bar"', None),
        ('"', None),
        ('""', None),
        ("fix it", None),
    ],
)
def test_only_the_quotes_that_opencode_run_adds_are_hidden(json_home: Path, stored: str, shown: str | None) -> None:
    part = _part(json_home, {"type": "text", "text": stored}, role="user")
    assert (part.text, part.metadata.get("display_text")) == (stored, shown)


@pytest.mark.requirement("READ-9")
def test_quotes_of_a_model_are_its_own(json_home: Path) -> None:
    assert "display_text" not in _part(json_home, {"type": "text", "text": '"yes"'}).metadata


@pytest.mark.requirement("READ-7")
@pytest.mark.parametrize("mark", ["synthetic", "ignored"])
def test_synthetic_and_ignored_text_is_not_what_the_person_said(json_home: Path, mark: str) -> None:
    part = _part(json_home, {"type": "text", "text": "go on", mark: True}, role="user")
    assert part.synthetic
    message = _message(json_home, "msg_zz")
    assert (message.role, message.author) == (Role.USER, Author.SYNTHETIC)


@pytest.mark.requirement("READ-7")
def test_a_compaction_keeps_its_tail_in_sight(json_home: Path) -> None:
    found, _, _ = read(sources(json_home)[-1])
    _, messages = found[_BIG]
    at = (messages[-1].created_at or 0) + 1000
    asked = {"type": "compaction", "auto": True, "tail_start_id": messages[9].id}
    _add_message(json_home, "msg_zask", {"role": "user", "time": {"created": at}}, asked)
    summary = {"role": "assistant", "summary": True, "parentID": "msg_zask", "time": {"created": at + 1}}
    _add_message(json_home, "msg_zsum", summary)
    deltas = [r for r in READER.scan(sources(json_home)[-1], {}, SessionId(_BIG)) if isinstance(r, SessionDelta)]
    assert deltas[-1].superseded == tuple(m.id for m in messages[:9])
    assert deltas[-1].messages[-1].is_summary


# --- parts


@pytest.mark.requirement("READ-22")
def test_a_call_whose_output_was_pruned_keeps_it_and_says_so(json_home: Path) -> None:
    state = {"status": "completed", "input": {}, "output": "long", "time": {"start": 1, "end": 2, "compacted": 3}}
    tool = _part(json_home, {"type": "tool", "tool": "bash", "callID": "c", "state": state}).tool
    assert tool is not None
    assert (tool.pruned, tool.output, tool.status) == (True, "long", ToolStatus.COMPLETED)


@pytest.mark.requirement("READ-22")
def test_a_pending_call_shows_what_was_written_of_its_input(json_home: Path) -> None:
    state = {"status": "pending", "raw": '{"comm'}
    tool = _part(json_home, {"type": "tool", "tool": "bash", "callID": "c", "state": state}).tool
    assert tool is not None
    assert (tool.status, tool.input, tool.output) == (ToolStatus.PENDING, '{"comm', None)


@pytest.mark.requirement("READ-22")
@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "agent", "name": "plan"}, PartType.STEP),
        ({"type": "snapshot", "snapshot": "abc"}, PartType.STEP),
        ({"type": "subtask", "prompt": "look there", "description": "d", "agent": "general"}, PartType.TEXT),
        ({"type": 7}, PartType.UNKNOWN),
        ({}, PartType.UNKNOWN),
    ],
)
def test_rare_part_types_are_kept(json_home: Path, part: dict[str, Any], expected: PartType) -> None:
    found = _part(json_home, part)
    assert found.type is expected
    assert found.metadata["source_type"] == (part["type"] if isinstance(part.get("type"), str) else "")


@pytest.mark.requirement("READ-22")
def test_pictures_are_counted_and_not_kept(json_home: Path) -> None:
    url = "data:image/png;base64," + "A" * 9_000
    picture = _part(json_home, {"type": "file", "mime": "image/png", "filename": "a.png", "url": url}, role="user")
    assert picture.file is not None
    assert (picture.file.path, picture.lost_bytes) == ("a.png", len(url))
    state = {"status": "completed", "input": {}, "output": "", "attachments": [{"mime": "image/png", "url": url}]}
    call = _part(json_home, {"type": "tool", "tool": "read", "callID": "c", "state": state})
    assert (call.metadata["attachments"], call.lost_bytes) == ([{"mime": "image/png"}], len(url))


@pytest.mark.requirement("READ-22")
def test_a_file_part_names_its_lines(json_home: Path) -> None:
    part = _part(
        json_home, {"type": "file", "mime": "text/plain", "url": "file:///a%20b.py?start=3&end=9"}, role="user"
    )
    assert part.file is not None
    assert (part.file.path, part.file.range) == ("/a b.py", (3, 9))


@pytest.mark.requirement("READ-10")
def test_failed_requests_leave_no_body_header_or_address_anywhere(json_home: Path) -> None:
    data = {"message": "too many", "responseBody": "SECRET-1", "responseHeaders": {"x": "SECRET-2"}}
    error = {"name": "APIError", "data": data | {"metadata": {"url": "SECRET-3"}}}
    _add_message(
        json_home,
        "msg_zz",
        {"role": "assistant", "time": {"created": 1}, "error": error},
        {"type": "retry", "attempt": 1, "error": error, "time": {"created": 2}},
    )
    message = _message(json_home, "msg_zz")
    assert message.error == "APIError: too many"
    assert message.parts[0].metadata["error"] == "APIError: too many"
    assert "SECRET" not in repr(message)


@pytest.mark.requirement("READ-20")
def test_the_system_prompt_that_0_5_repeats_is_counted_and_not_kept(tmp_path: Path) -> None:
    write_v0(tmp_path, system="You are an agent. " * 50)
    _, messages = read(sources(tmp_path)[0])[0]["ses_1"]
    assert messages[1].metadata["system"] == {"characters": 900}


# --- reverts


def _reverted(records: list[object], session_id: str) -> tuple[str, ...]:
    return next(r.reverted for r in records if isinstance(r, SessionDelta) and r.session.id == session_id)


@pytest.mark.requirement("READ-8")
def test_what_was_taken_back_stays_so_when_the_next_prompt_deletes_it(sqlite_home: Path) -> None:
    place = sources(sqlite_home)[-1]
    _, _, cursor = read(place)
    session_id = "ses_e039e3380ffesiyRnOKg9Vk5p5"
    writer = sqlite3.connect(place.path)
    taken = [x for (x,) in writer.execute("SELECT id FROM message WHERE session_id = ? ORDER BY id", (session_id,))]
    writer.execute("DELETE FROM part WHERE message_id IN (SELECT id FROM message WHERE session_id = ?)", (session_id,))
    writer.execute("DELETE FROM message WHERE session_id = ?", (session_id,))
    writer.execute("UPDATE session SET revert = NULL, time_updated = time_updated + 9 WHERE id = ?", (session_id,))
    writer.commit()
    writer.close()
    assert _reverted(list(READER.scan(place, cursor)), session_id) == tuple(taken)


@pytest.mark.requirement("READ-8")
def test_a_revert_undone_lifts_the_marks(sqlite_home: Path) -> None:
    place = sources(sqlite_home)[-1]
    _, _, cursor = read(place)
    session_id = "ses_e039e3380ffesiyRnOKg9Vk5p5"
    writer = sqlite3.connect(place.path)
    writer.execute("UPDATE session SET revert = NULL WHERE id = ?", (session_id,))
    writer.commit()
    writer.close()
    records = list(READER.scan(place, cursor))
    assert _reverted(records, session_id) == ()
    assert next(r for r in records if isinstance(r, SessionDelta) and r.session.id == session_id).reverted_is_complete


# --- secrets


@pytest.mark.requirement("READ-24")
@pytest.mark.parametrize("table", ["account", "control_account", "credential", "session_share", "event"])
def test_sqlite_itself_refuses_tables_with_credentials(sqlite_home: Path, table: str) -> None:
    with opened(sources(sqlite_home)[-1].path, TABLES) as database:
        assert list(database.rows("SELECT id FROM session"))
        with pytest.raises(apsw.AuthError):
            list(database.rows(f"SELECT * FROM {table}"))


@pytest.mark.requirement("READ-24")
def test_files_with_credentials_are_not_opened(json_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("auth.json", "mcp-auth.json", "storage/session_share/x.json"):
        file = data_folder(json_home) / name
        file.parent.mkdir(exist_ok=True)
        file.write_text('{"secret": "SECRET"}')
    read_bytes: Callable[[Path], bytes] = Path.read_bytes
    seen: list[str] = []

    def watch(self: Path) -> bytes:
        seen.append(str(self))
        return read_bytes(self)

    monkeypatch.setattr(Path, "read_bytes", watch)
    found, _, _ = read(sources(json_home)[-1])
    assert seen
    assert not [path for path in seen if "auth" in Path(path).name or "session_share" in path]
    assert "SECRET" not in repr(found)


# --- sources


@pytest.mark.requirement("READ-21")
def test_a_database_named_in_the_environment_does_not_hide_the_usual_one(sqlite_home: Path) -> None:
    usual = sources(sqlite_home)[-1].path
    shutil.copy(usual, usual.with_name("mine.db"))
    found = sources(sqlite_home, OPENCODE_DB="mine.db")
    assert [place.path.name for place in found if place.layout == "sqlite"] == ["opencode.db", "mine.db"]
    assert found[-1].precedence > found[-2].precedence


@pytest.mark.requirement("READ-3")
def test_the_diff_file_beside_the_database_is_read(sqlite_home: Path) -> None:
    session, _ = read(sources(sqlite_home)[-1])[0]["ses_e039e3380ffesiyRnOKg9Vk5p5"]
    assert session.metadata["diff"] == [{"file": "README.md", "additions": 2, "deletions": 0, "status": "modified"}]
