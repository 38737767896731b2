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
from tests.builders import NOON, message, session

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


def said(role: str, content: str, **fields: Any) -> dict[str, Any]:
    return {"id": f"m-{content}", "role": role, "content": content, "timestamp": NOON, **fields}


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


def _delta(*messages: Message, **fields: Any) -> Any:
    from tests.builders import delta

    return delta(*messages, about=session(**fields))
