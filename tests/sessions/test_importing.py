"""Imports: what comes back of a session that went out, and what hostile files do (nothing)."""

from __future__ import annotations

import json
import string
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ovillo.app import open_services
from ovillo.interfaces.services import Services
from ovillo.model.errors import InvalidInput, LimitExceeded, OvilloError
from ovillo.model.live import NATIVE, Summary
from ovillo.model.records import (
    DEFAULT_NAMESPACE,
    Author,
    FileRef,
    Message,
    MessageId,
    Namespace,
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
from ovillo.sessions.drafts import MessageDraft
from ovillo.sessions.transfer import documents
from ovillo.sessions.transfer.import_shapes import LAST_MS
from ovillo.sessions.transfer.importing import Imported
from ovillo.sessions.transfer.json_form import IMPORTED
from ovillo.settings import Settings
from ovillo.store.protocol import SessionFilter
from tests.builders import NOON, delta, message, session

NS = DEFAULT_NAMESPACE
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Services]:
    opened = open_services(Settings(data_dir=tmp_path, home=tmp_path, embedder="none", watch=False))
    yield opened
    opened.close()


def exported(services: Services, session_id: str, form: str = "json", namespace: Namespace = NS) -> bytes:
    return b"".join(services.transfer.export(namespace, SessionId(session_id), form).chunks)


def imported(services: Services, data: Any, **options: Any) -> Imported:
    text = data if isinstance(data, str | bytes) else json.dumps(data)
    return services.importer.import_session(NS, text, **options)


def minimal(*messages: Any, **fields: Any) -> dict[str, Any]:
    """The least that the specification asks for."""
    inner = {
        "name": "Pago",
        "provider": "openai",
        "modes": {"orchestrate": False, "plan": True, "bypassPermissions": False},
        "messages": list(messages),
        "longTermSummary": "",
        "metrics": {},
        **fields,
    }
    return {"version": "1.0", "exportedAt": NOON, "session": inner}


def said(role: str, content: str | None, **fields: Any) -> dict[str, Any]:
    return {"id": f"m-{content}"[:20], "role": role, "content": content, "timestamp": NOON, **fields}


def told(services: Services, session_id: str) -> list[Message]:
    return services.store.messages(NS, SessionId(session_id), limit=100_000)


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


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """A store that many sessions go into; each by another id."""
    folder = tmp_path_factory.mktemp("shared")
    opened = open_services(Settings(data_dir=folder, home=folder, embedder="none", watch=False, redaction="off"))
    yield opened
    opened.close()


_FRESH = iter(range(10**9))


@pytest.mark.requirement("TRANSFER-1")
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_sessions(), st.sampled_from(("json", "jsonl")))
def test_a_session_that_went_out_comes_back_as_it_was(
    shared: Services, made: tuple[Session, list[Message], list[Summary]], form: str
) -> None:
    about, messages, summaries = made
    new = SessionId(f"ses_{next(_FRESH)}")
    shared.store.import_session(
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
    rows = services.store.list_sessions(NS, SessionFilter(), 1_000)
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
        assert empty.store.get_session(NS, back.session.id) == back


@pytest.mark.requirement("TRANSFER-3")
def test_an_import_has_new_ids_and_keeps_the_old_ones_as_facts(empty: Services) -> None:
    call = ToolCall("task", "call-9", {}, "x", child_session_id=SessionId("ses_child"))
    part = Part(PartId("p"), MessageId("m2"), 0, PartType.TOOL_CALL, tool=call)
    empty.store.apply(
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
    assert empty.store.session_of_call(NS, "call-9") == "ses_a"
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
    empty.store.apply(NS, [_delta(asked, message("m2", 2, role=Role.ASSISTANT, parts=(part,)), title="Old")])
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
    empty.keeper.settle(NS, row.session.id)
    assert empty.store.summaries(NS, row.session.id) == []
    empty.summaries.summarize(NS, row.session.id)
    (stored,) = empty.store.summaries(NS, row.session.id)
    back = imported(empty, exported(empty, row.session.id)).row
    (came,) = empty.store.summaries(NS, back.session.id)
    assert (came.from_seq, came.through_seq, came.text, came.tokens_before) == (
        1,
        40,
        stored.text,
        stored.tokens_before,
    )


# --- hostile files

_DEEP = '{"a":' * 400 + "1" + "}" * 400
_BOTTOMLESS = "[" * 100_000
ONE = said("user", "x")


def text_of(*messages: str, **fields: Any) -> str:
    whole = json.dumps(minimal(**fields))
    return whole.replace('"messages": []', f'"messages": [{",".join(messages)}]')


HOSTILE: dict[str, tuple[Any, str]] = {
    "nothing": ("", "empty"),
    "no json": ("<html>", "no JSON"),
    "cut off": (json.dumps(minimal(ONE))[:-9], "no JSON"),
    "not a number": (text_of('{"role":"user","content":"x","timestamp":NaN}'), "no JSON"),
    "beyond numbers": (text_of('{"role":"user","content":"x","timestamp":1e999}'), "no JSON"),
    "5,000 digits": (text_of('{"role":"user","content":"x","timestamp":' + "9" * 5_000 + "}"), "no JSON"),
    "an array": ("[]", "an array"),
    "null": ("null", "null"),
    "no version": ({"session": {"messages": []}}, 'version is missing. Known: "1.0"'),
    "another version": ({**minimal(), "version": "2.0"}, 'version is "2.0". Known: "1.0"'),
    "version as a number": ({**minimal(), "version": 1.0}, "version is 1.0"),
    "no session": ({"version": "1.0"}, "session is missing"),
    "session is text": ({"version": "1.0", "session": "x"}, "session is a string"),
    "no messages": ({"version": "1.0", "session": {}}, "session.messages is missing"),
    "messages by name": (minimal(messages={}), "session.messages is an object"),
    "a message is text": (minimal(ONE, "x"), "session.messages[1] is a string"),
    "role": (minimal(ONE, {**ONE, "id": "b", "role": "root"}), "session.messages[1].role: Invalid enum value 'root'"),
    "role is null": (minimal({**ONE, "role": None}), "session.messages[0].role"),
    "no role": (minimal({"content": "x"}), "session.messages[0]: Object missing required field `role`"),
    "no content": (minimal({"role": "user"}), "session.messages[0].content: missing"),
    "content is a number": (minimal({**ONE, "content": 7}), "session.messages[0].content: Expected `str | null`"),
    "content in blocks": (minimal({**ONE, "content": [{}]}), "session.messages[0].content"),
    "id is a number": (minimal({**ONE, "id": 7}), "session.messages[0].id"),
    "id without end": (minimal({**ONE, "id": "x" * 501}), "session.messages[0].id"),
    "same id": (minimal(ONE, ONE), "session.messages[1].id: 'm-x' is the id of session.messages[0] already"),
    "time is text": (minimal({**ONE, "timestamp": "soon"}), "session.messages[0].timestamp: 'soon' is no time"),
    "time before all": (minimal({**ONE, "timestamp": -1}), "session.messages[0].timestamp: -1 is no time"),
    "time after all": (minimal({**ONE, "timestamp": 2**70}), "session.messages[0].timestamp"),
    "time is a list": (minimal({**ONE, "timestamp": []}), "session.messages[0].timestamp"),
    "calls by name": (minimal({**ONE, "toolCalls": {}}), "session.messages[0].toolCalls"),
    "call without name": (minimal({**ONE, "toolCalls": [{}]}), "session.messages[0].toolCalls[0].name: missing"),
    "call id": (minimal({**ONE, "toolCalls": [{"name": "x", "id": 1}]}), "session.messages[0].toolCalls[0].id"),
    "metadata": (minimal({**ONE, "metadata": []}), "session.messages[0].metadata"),
    "name": (minimal(name=["x"]), "session.name: Expected `str | null`, got `array`"),
    "name without end": (minimal(name="x" * 5_000), "session.name"),
    "modes": (minimal(modes={"plan": "yes"}), "session.modes[...]: Expected `bool`"),
    "summary": (minimal(longTermSummary=1), "session.longTermSummary"),
    "metrics": (minimal(metrics=[]), "session.metrics"),
    "directory": (minimal(workingDirectory="/a\0b"), "session.workingDirectory"),
    "files": (minimal(activeFiles=[1]), "session.activeFiles[0]"),
    "type": (minimal(type="evil"), "session.type"),
    "export time": ({**minimal(), "exportedAt": 10**30}, "exportedAt"),
    "origin": ({**minimal(), "origin": []}, "origin"),
    "origin kind": ({**minimal(), "origin": {"kind": 1}}, "origin.kind"),
    "origin time": ({**minimal(), "origin": {"created_at": -5}}, "origin.created_at"),
    "origin count": ({**minimal(), "origin": {"additions": 2**64}}, "origin.additions"),
    "record usage": (minimal({**ONE, "record": {"usage": {"input": -1}}}), "session.messages[0].record.usage.input"),
    "record cost": (minimal({**ONE, "record": {"cost": -1.0}}), "session.messages[0].record.cost"),
    "record author": (minimal({**ONE, "record": {"author": "god"}}), "session.messages[0].record.author"),
    "part type": (minimal({**ONE, "record": {}, "parts": [{"type": "x"}]}), "session.messages[0].parts[0].type"),
    "part bytes": (
        minimal({**ONE, "record": {}, "parts": [{"type": "text", "lost_bytes": 2**63}]}),
        "session.messages[0].parts[0].lost_bytes",
    ),
    "same part": (
        minimal({**ONE, "record": {}, "parts": [{"type": "text", "id": "p"}] * 2}),
        "session.messages[0].parts[1].id: 'p' is the id of session.messages[0].parts[0] already",
    ),
    "summaries": (
        {**minimal(ONE), "origin": {}, "summaries": [{"first": 1, "through": 9, "text": "x"}]},
        "summaries[0]",
    ),
    "deep": (text_of('{"role":"user","content":"x","metadata":' + _DEEP + "}"), "nested too deeply"),
    "deeper": (_BOTTOMLESS, "nested too deeply"),
    "deep in a line": ('{"role":"user","content":"x"}\n{"role":"user","content":"x","m":' + _DEEP + "}", "Line 2"),
    "a bad line": ('{"role":"user","content":"x"}\n{"role":\n', "Line 2 is no JSON"),
    "a line of text": ('{"role":"user","content":"x"}\n"y"\n', "Line 2 is a string"),
    "a line in between": ('{"type":"session","version":"1.0","session":{}}\n{"type":"note"}', "line 2: type is 'note'"),
    "role in a line": ('{"role":"user","content":"x"}\n\n{"role":"x","content":"x"}', "line 3.role"),
    "gzip": (b"\x1f\x8b\x08" + bytes(40), "compressed (gzip)"),
    "zstd": (b"\x28\xb5\x2f\xfd" + bytes(40), "compressed (zstd)"),
    "utf-16": (json.dumps(minimal()).encode("utf-16"), "UTF-16"),
    "latin-1": (b'{"a": "\xf1"}', "not UTF-8"),
}


@pytest.mark.requirement("TRANSFER-9")
@pytest.mark.parametrize("case", HOSTILE)
def test_what_does_not_fit_is_named_and_changes_nothing(empty: Services, case: str) -> None:
    data, words = HOSTILE[case]
    before = empty.store.last_change(NS)
    with pytest.raises(InvalidInput) as caught:
        imported(empty, data)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 600
    assert empty.store.last_change(NS) == before
    assert empty.store.count_sessions(NS, SessionFilter()) == 0


@pytest.mark.requirement("TRANSFER-10")
def test_64_mib_are_looked_at_and_one_byte_more_is_not(empty: Services) -> None:
    head, tail = b'{"version":"1.0","session":{"messages":[{"role":"user","content":7,"x":"', b'"}]}}'
    room = documents.MAX_IMPORT_BYTES - len(head) - len(tail)
    with pytest.raises(InvalidInput, match=r"messages\[0\]\.content"):
        imported(empty, head + b"," * room + tail)
    with pytest.raises(LimitExceeded, match=r"67,108,865 bytes.*67,108,864"):
        imported(empty, head + b"," * (room + 1) + tail)
    assert empty.store.count_sessions(NS, SessionFilter()) == 0


@pytest.mark.requirement("TRANSFER-10")
@pytest.mark.parametrize(
    "bomb",
    [
        b"[" + b"[]," * 5_000_000 + b"[]]",
        b'{"version":"1.0","session":{"messages":[{"role":"user","content":"x","m":[' + b"0," * 5_000_000 + b"0]}]}}",
        b'{"role":"user","content":"x"}\n' * 200_001,
        b'{"version":"1.0","session":{"messages":[' + b"{}," * 200_001 + b"{}]}}",
        b'{"role":"user","content":"x","m":['
        + b"0," * 2_000_000
        + b'0]}\n{"role":"user","m":['
        + b"0," * 2_100_000
        + b"0]}",
    ],
    ids=["arrays", "numbers", "lines", "messages", "lines of numbers"],
)
def test_a_bomb_is_counted_before_it_is_decoded(empty: Services, bomb: bytes) -> None:
    with pytest.raises(LimitExceeded):
        imported(empty, bomb)
    assert empty.store.count_sessions(NS, SessionFilter()) == 0


@pytest.mark.requirement("TRANSFER-10")
def test_text_that_is_mostly_commas_is_no_bomb(empty: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_VALUES", 1_000)
    made = imported(empty, minimal(said("user", ",[{" * 2_000)))
    lines = "\n".join(json.dumps(said("user", f"{n}" + ",[{" * 2_000)) for n in range(3))
    assert (made.messages, imported(empty, lines).messages) == (1, 3)


@pytest.mark.requirement("TRANSFER-11")
def test_odd_characters_are_stored_or_replaced_and_come_back(empty: Services) -> None:
    data = text_of(
        r'{"role":"user","content":"nul \u0000 half \ud83d pair \ud83d\ude00 back\\ud83d"}', name="a\u0000b\u202e"
    )
    row = imported(empty, b"\xef\xbb\xbf" + data.encode()).row
    (only,) = told(empty, row.session.id)
    assert only.parts[0].text == "nul \0 half \ufffd pair 😀 back\\ud83d"
    assert json.loads(exported(empty, row.session.id))["session"]["messages"][0]["content"] == only.parts[0].text
    assert exported(empty, row.session.id, "html")


@pytest.mark.requirement("TRANSFER-12")
@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "C:\\x\\..\\y", "a\0b/c", "con", "..", "💥", "x" * 4_000]
)
def test_a_name_never_becomes_a_path(empty: Services, name: str) -> None:
    row = imported(empty, minimal(ONE, name=name, workingDirectory="../../..", activeFiles=["/etc/shadow"])).row
    made = empty.transfer.export(NS, row.session.id, "json")
    assert made.filename.startswith("session-")
    assert len(made.filename) < 100
    assert not set(made.filename) & set("/\\:\0")
    assert ".." not in made.filename


_NAMES = ("version", "session", "messages", "type", "origin", "tool", "seq")
_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*_NAMES, "role", "content", "id", "timestamp", "toolCalls", "parts", "record", "usage"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.requirement("TRANSFER-9")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_ANY, st.lists(_ANY, max_size=2), st.dictionaries(st.sampled_from(["origin", "summaries", "exportedAt"]), _ANY))
def test_whatever_stands_in_a_file_it_is_imported_or_refused(
    shared: Services, inner: Any, some: Any, head: Any
) -> None:
    shapes = [
        inner,
        minimal(*some, **head),
        {**minimal(inner), **head},
        minimal({**ONE, "record": inner, "parts": some}),
    ]
    for shape in shapes:
        before = shared.store.last_change(NS)
        try:
            row = imported(shared, json.dumps(shape)).row
        except OvilloError:
            assert shared.store.last_change(NS) == before
        else:
            assert exported(shared, row.session.id)
