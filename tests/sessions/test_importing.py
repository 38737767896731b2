"""Imports: what comes back of a session that went out, and what other programs' files become."""

from __future__ import annotations

import json
import string
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ovillo.interfaces.services import Services
from ovillo.model.live import NATIVE, Summary
from ovillo.model.records import (
    Author,
    FileRef,
    Message,
    MessageId,
    Part,
    PartId,
    PartType,
    Patch,
    RawRef,
    Role,
    Session,
    SessionDelta,
    SessionId,
    SessionKind,
    SessionStatus,
    SessionType,
    ToolCall,
    ToolStatus,
    Usage,
)
from ovillo.model.sessions import SessionFilter
from ovillo.sessions.drafts import MessageDraft
from ovillo.sessions.transfer.import_shapes import LAST_MS
from ovillo.sessions.transfer.json_form import IMPORTED
from tests.builders import NOON, delta, message, session
from tests.sessions.transferring import NS, empty, exported, imported, minimal, said, shared, told

__all__ = ["empty", "shared"]

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


# --- round trip


def comparable(data: bytes) -> dict[str, Any]:
    """An export without ids, without times of the export, of the session and of its import."""
    whole: dict[str, Any] = json.loads(data)
    del whole["exportedAt"]
    origin, inner = whole["origin"], whole["session"]
    if inner["name"] == origin["id"]:
        inner["name"] = origin["shown"]["name"] = "its id"
    for name in ("id", "source", "source_id", "namespace", "created_at", "updated_at", "kind", "parent_id"):
        origin.pop(name, None)
    for name in ("forked_from", "fork_point"):
        origin.pop(name, None)
    _forget(origin)
    for name in ("durationMs", "activeMs"):
        inner["metrics"].pop(name, None)
    numbers = {item["id"]: n for n, item in enumerate(inner["messages"])}
    for item in inner["messages"]:
        del item["id"]
        record = item["record"]
        record["parent_id"] = numbers.get(record.get("parent_id"))
        record.pop("inherited_from", None)
        _forget(item)
        for call in item.get("toolCalls", ()):
            call["id"] = call["id"].removeprefix("imported:")
        for part in item["parts"]:
            del part["id"]
            _forget(part)
            if "tool" in part:
                part["tool"]["call_id"] = part["tool"]["call_id"].removeprefix("imported:")
                part["tool"].pop("child_session_id", None)
    return whole


def _forget(holder: dict[str, Any]) -> None:
    holder.get("metadata", {}).pop(IMPORTED, None)
    if not holder.get("metadata", True):
        del holder["metadata"]


_TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
_WORD = st.text(string.ascii_letters + string.digits + "-_./", min_size=1, max_size=12)
_TIME = st.none() | st.integers(0, LAST_MS)
_COUNT = st.integers(0, 2**53)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)
_METADATA = st.dictionaries(_TEXT, _JSON, max_size=2)
_TOOL = st.builds(
    ToolCall,
    _WORD,
    _WORD,
    _JSON,
    st.none() | _TEXT,
    st.none() | _TEXT,
    st.sampled_from(ToolStatus),
    _TIME,
    _TIME,
    st.booleans(),
)
_PATCH = st.builds(Patch, st.lists(_WORD, max_size=2).map(tuple), st.none() | _TEXT, _COUNT, _COUNT)
_FILE = st.builds(FileRef, _TEXT, st.none() | _WORD, st.none() | st.tuples(_COUNT, _COUNT))


@st.composite
def _parts(draw: st.DrawFn) -> Part:
    kind = draw(st.sampled_from(PartType))
    return Part(
        PartId(""),
        MessageId(""),
        0,
        kind,
        draw(_TEXT),
        draw(st.booleans()),
        draw(_TOOL) if kind in (PartType.TOOL_CALL, PartType.TOOL_RESULT) else None,
        draw(_FILE) if kind is PartType.FILE else None,
        draw(_PATCH) if kind is PartType.PATCH else None,
        draw(_TIME),
        draw(_METADATA),
        draw(st.none() | st.builds(RawRef, _TEXT, _COUNT, _WORD)),
        draw(_COUNT),
    )


@st.composite
def _messages(draw: st.DrawFn, number: int) -> Message:
    name = MessageId(f"m{number}")
    parts = draw(st.lists(_parts(), max_size=3))
    usage = st.none() | st.builds(Usage, _COUNT, _COUNT, _COUNT, _COUNT, _COUNT)
    return Message(
        SessionId("ses_a"),
        name,
        number,
        draw(st.sampled_from(Role)),
        draw(st.sampled_from(Author)),
        tuple(replace(part, id=PartId(f"{name}-{n}"), message_id=name, seq=n) for n, part in enumerate(parts)),
        parent_id=draw(st.none() | st.just(MessageId(f"m{number - 1}"))),
        agent=draw(st.none() | _WORD),
        model=draw(st.none() | _WORD),
        provider=draw(st.none() | _WORD),
        created_at=draw(_TIME),
        completed_at=draw(_TIME),
        usage=draw(usage),
        usage_source=draw(st.none() | _WORD),
        cost=draw(st.none() | st.floats(0, 1e6)),
        error=draw(st.none() | _TEXT),
        finish=draw(st.none() | _WORD),
        superseded=draw(st.booleans()),
        reverted=draw(st.booleans()),
        is_summary=draw(st.booleans()),
        metadata=draw(_METADATA),
    )


@st.composite
def _sessions(draw: st.DrawFn) -> tuple[Session, list[Message], list[Summary]]:
    some = st.none() | _WORD
    about = Session(
        SessionId("ses_a"),
        draw(st.sampled_from((NATIVE, "opencode"))),
        source_id=draw(some),
        project_id=draw(some),
        directory=draw(some),
        worktree=draw(some),
        git_branch=draw(some),
        title=draw(st.none() | _TEXT.filter(bool)),
        slug=draw(some),
        agent=draw(some),
        model=draw(some),
        provider=draw(some | st.just("anthropic")),
        type=draw(st.none() | st.sampled_from(SessionType)),
        status=draw(st.sampled_from(SessionStatus)),
        created_at=NOON,
        updated_at=NOON,
        version=draw(some),
        additions=draw(st.none() | _COUNT),
        deletions=draw(st.none() | _COUNT),
        files_changed=draw(st.none() | _COUNT),
        summary=draw(st.none() | _TEXT.filter(bool)),
        modes=draw(st.lists(st.sampled_from(("plan", "orchestrate", "x")), unique=True).map(tuple)),
        active_files=draw(st.lists(_WORD, max_size=2).map(tuple)),
        metadata=draw(_METADATA),
        warnings=draw(st.lists(_TEXT, max_size=1).map(tuple)),
    )
    count = draw(st.integers(0, 4))
    messages = [draw(_messages(n)) for n in range(1, count + 1)]
    summaries: list[Summary] = []
    if count and draw(st.booleans()):
        summaries = [Summary("sum", about.id, 1, count, draw(_TEXT), 9, 3, "extractive", NOON)]
    return about, messages, summaries


_FRESH = iter(range(10**9))


@pytest.mark.requirement("TRANSFER-1")
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_sessions(), st.sampled_from(("json", "jsonl")))
def test_a_session_that_went_out_comes_back_as_it_was(
    shared: Services, made: tuple[Session, list[Message], list[Summary]], form: str
) -> None:
    about, messages, summaries = made
    new = SessionId(f"ses_{next(_FRESH)}")
    shared.store.importing.import_session(
        NS,
        replace(about, id=new),
        [replace(item, session_id=new) for item in messages],
        [replace(item, session_id=new) for item in summaries],
        at=NOON,
    )
    back = shared.importer.import_session(NS, exported(shared, new, form)).row.session
    assert back.id != new
    assert back.source == NATIVE
    assert comparable(exported(shared, back.id)) == comparable(exported(shared, new))
    kept, came = told(shared, new), told(shared, back.id)
    assert [item.seq for item in came] == list(range(1, len(messages) + 1))
    assert not {item.id for item in kept} & {item.id for item in came}


@pytest.mark.requirement("TRANSFER-2")
@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_every_real_session_comes_back(services: Services, empty: Services, form: str) -> None:
    rows = services.store.sessions.find(NS, SessionFilter(), 1_000)
    assert len(rows) > 20
    for row in rows:
        if row.session.source == NATIVE:
            continue
        before = exported(services, row.session.id)
        back = imported(empty, exported(services, row.session.id, form)).row
        after = comparable(exported(empty, back.session.id))
        expected = comparable(before)
        # What a fork inherited and its sub-agents' share are told apart where the origin is, not in the copy.
        expected["session"].pop("metrics"), after["session"].pop("metrics")
        if row.session.kind is SessionKind.FORK:
            expected["origin"].setdefault("title", expected["session"]["name"])
        assert after == expected
        assert empty.store.sessions.get(NS, back.session.id) == back


@pytest.mark.requirement("TRANSFER-3")
def test_an_import_has_new_ids_and_keeps_the_old_ones_as_facts(empty: Services) -> None:
    call = ToolCall("task", "call-9", {}, "x", child_session_id=SessionId("ses_child"))
    part = Part(PartId("p"), MessageId("m2"), 0, PartType.TOOL_CALL, tool=call)
    empty.store.ingest.apply(
        NS,
        [
            _delta(
                message("m1", 1, "one"),
                replace(
                    message("m2", 2, role=Role.ASSISTANT, parts=(part,), parent_id=MessageId("m1")),
                    inherited_from=SessionId("ses_else"),
                ),
                parent_id="ses_parent",
                forked_from="ses_else",
                fork_point="m1",
            )
        ],
    )
    row = imported(empty, exported(empty, "ses_a")).row
    first, second = told(empty, row.session.id)
    facts = row.session.metadata[IMPORTED]
    assert (facts["sessionID"], facts["source"], facts["parentID"]) == ("ses_a", "opencode", "ses_parent")
    assert (row.session.parent_id, row.session.forked_from, row.session.kind.value) == (None, None, "root")
    assert second.parent_id == first.id != "m1"
    assert (first.metadata[IMPORTED]["id"], second.metadata[IMPORTED]["inheritedFrom"]) == ("m1", "ses_else")
    assert second.parts[0].tool is not None
    assert second.parts[0].tool.child_session_id is None
    # The live agent's call id must go on naming the live session.
    assert empty.store.sessions.of_call(NS, "call-9") == "ses_a"
    again = imported(empty, exported(empty, row.session.id)).row
    assert told(empty, again.session.id)[0].metadata[IMPORTED]["id"] == "m1"
    assert again.session.metadata[IMPORTED]["earlier"]["sessionID"] == "ses_a"


def _delta(*messages: Message, **fields: Any) -> SessionDelta:
    return delta(*messages, about=session(**fields))


# --- files of other programs


@pytest.mark.requirement("TRANSFER-4")
def test_the_least_that_the_specification_asks_for_is_a_session_to_go_on_with(empty: Services) -> None:
    data = minimal(said("user", "¿qué falla?"), said("assistant", "la validación"), longTermSummary="Antes: login.")
    row = imported(empty, data).row
    session, (first, second) = row.session, told(empty, row.session.id)
    assert (session.title, session.provider, session.modes, session.source) == ("Pago", "openai", ("plan",), NATIVE)
    assert (first.role, first.author, first.created_at) == (Role.USER, Author.HUMAN, NOON)
    assert second.parts[0].text == "la validación"
    view = empty.summaries.view(NS, session.id)
    assert view.long_term_summary == "Antes: login."
    assert [item.id for item in view.short_term] == [first.id, second.id]
    assert json.loads(exported(empty, session.id))["session"]["longTermSummary"] == "Antes: login."
    draft = MessageDraft(Role.USER, "sigamos")
    assert empty.recorder.append(NS, session.id, [(draft, "k1")]).result()[0].seq == 3
    assert "validación" in exported(empty, session.id, "md").decode()


@pytest.mark.requirement("TRANSFER-4")
def test_tool_calls_are_read_as_several_programs_write_them(empty: Services) -> None:
    calls = [
        {"id": "a", "name": "bash", "arguments": {"command": "ls"}, "result": {"lines": 2}},
        {"id": "b", "type": "function", "function": {"name": "read", "arguments": '{"path": "x"}'}},
        {"name": "edit", "input": {"p": 1}, "output": "done", "status": "error"},
    ]
    row = imported(empty, minimal(said("assistant", None, toolCalls=calls))).row
    tools = [part.tool for part in told(empty, row.session.id)[0].parts if part.tool]
    assert [(tool.name, tool.output, tool.status.value) for tool in tools] == [
        ("bash", '{"lines":2}', "completed"),
        ("read", None, "pending"),
        ("edit", "done", "error"),
    ]
    assert tools[1].input == '{"path": "x"}'


@pytest.mark.requirement("TRANSFER-4")
def test_fields_nobody_knows_are_kept_beside_the_message(empty: Services) -> None:
    data = minimal(said("user", "x", metadata={"mine": 1}, thread="t-7"), createdAt=5)
    row = imported(empty, data).row
    (only,) = told(empty, row.session.id)
    assert only.metadata["mine"] == 1
    assert only.metadata[IMPORTED] == {"id": "m-x", "fields": {"thread": "t-7"}}
    assert row.session.metadata[IMPORTED]["fields"] == {"createdAt": 5}


@pytest.mark.requirement("TRANSFER-4")
def test_metrics_of_another_program_are_exported_again(empty: Services) -> None:
    row = imported(empty, minimal(said("user", "x"), metrics={"totalTokens": 12})).row
    metrics = json.loads(exported(empty, row.session.id))["session"]["metrics"]
    assert (metrics["totalTokens"], metrics["messageCount"]) == (12, 1)


@pytest.mark.requirement("TRANSFER-5")
def test_an_export_that_was_edited_is_imported_as_it_reads_now(empty: Services) -> None:
    tool = ToolCall("bash", "c", {"command": "ls"}, "out", status=ToolStatus.COMPLETED)
    part = Part(PartId("p"), MessageId("m2"), 0, PartType.TOOL_CALL, tool=tool)
    asked = message("m1", 1, "before")
    empty.store.ingest.apply(NS, [_delta(asked, message("m2", 2, role=Role.ASSISTANT, parts=(part,)), title="Old")])
    data = json.loads(exported(empty, "ses_a"))
    data["session"] |= {"name": "New", "provider": "xai", "modes": {"plan": True}, "workingDirectory": "/elsewhere"}
    data["session"]["messages"][0]["content"] = "after"
    row = imported(empty, data).row
    session = row.session
    assert (session.title, session.provider, session.modes, session.directory) == (
        "New",
        "xai",
        ("plan",),
        "/elsewhere",
    )
    first, second = told(empty, session.id)
    assert [item.text for item in first.parts] == ["after"]
    assert second.parts[0].tool is not None
    assert second.parts[0].tool.output == "out"


@pytest.mark.requirement("TRANSFER-6")
def test_turns_as_json_lines_become_messages(empty: Services) -> None:
    lines = [
        {"role": "user", "content": "Hay un error", "timestamp": 1_761_000_000.5, "entities": ["validate_card"]},
        {"role": "assistant", "text": "En la línea 45", "created_at": "2026-01-21T10:00:00Z"},
        {"user": "¿y ahora?", "assistant": "funciona"},
    ]
    row = imported(empty, "\n\n".join(json.dumps(line) for line in lines) + "\n", name="session_abc123").row
    found = told(empty, row.session.id)
    assert [(item.role.value, item.parts[0].text) for item in found] == [
        ("user", "Hay un error"),
        ("assistant", "En la línea 45"),
        ("user", "¿y ahora?"),
        ("assistant", "funciona"),
    ]
    assert row.session.title == "session_abc123"
    assert found[0].created_at == 1_761_000_000_500
    assert found[1].created_at == 1_768_989_600_000
    assert found[0].metadata[IMPORTED]["fields"] == {"entities": ["validate_card"]}


@pytest.mark.requirement("TRANSFER-7")
def test_secrets_are_masked_before_they_are_stored_and_counted(empty: Services) -> None:
    call = {"name": "bash", "input": {"env": SECRET}, "output": f"token {SECRET}"}
    data = minimal(
        said("user", f"use {SECRET}", id="m", metadata={"token": SECRET}, toolCalls=[call]),
        longTermSummary=f"with {SECRET}",
        name=f"about {SECRET}",
    )
    made = imported(empty, data)
    assert SECRET not in exported(empty, made.row.session.id).decode()
    assert made.redactions == {"github_token": 7}
    assert "[redacted:github_token:" in empty.summaries.view(NS, made.row.session.id).long_term_summary


@pytest.mark.requirement("TRANSFER-8")
def test_an_import_does_not_summarise_and_a_restored_summary_stands_for_the_same_messages(empty: Services) -> None:
    data = minimal(*[said("user", f"step {n}") for n in range(60)])
    row = imported(empty, data).row
    empty.summary_worker.settle(NS, row.session.id)
    assert empty.store.recording.summaries(NS, row.session.id) == []
    empty.summaries.summarize(NS, row.session.id)
    (stored,) = empty.store.recording.summaries(NS, row.session.id)
    back = imported(empty, exported(empty, row.session.id)).row
    (came,) = empty.store.recording.summaries(NS, back.session.id)
    assert (came.from_seq, came.through_seq, came.text, came.tokens_before) == (
        1,
        40,
        stored.text,
        stored.tokens_before,
    )
