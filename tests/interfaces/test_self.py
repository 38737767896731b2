"""What asking itself writes down is no evidence: the question, and calls of ovillo's own tools; copies count once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ovillo.interfaces.services import Services
from ovillo.interfaces.tools.registry import Registry, all_tools
from ovillo.model.own_tools import is_own_tool, is_shell, types_own_command
from ovillo.model.records import DEFAULT_NAMESPACE, Author, Message, Role, SessionKind, ToolCall, ToolStatus
from ovillo.security.principals import LOCAL
from ovillo.sessions.caller import CallContext
from tests.builders import NOON, delta, message, session, tool_part
from tests.interfaces.opened import made

__all__ = ["made"]

NS = DEFAULT_NAMESPACE
ASKED = "Which port does the staging proxy listen on?"


def call_of(session_id: str, seq: int, name: str, given: Mapping[str, Any], output: str) -> Message:
    tool = ToolCall(name, f"call-{session_id}-{seq}", given, output, status=ToolStatus.COMPLETED)
    made_by = message(f"{session_id}-{seq}", seq, of=session_id, role=Role.ASSISTANT)
    return Message(
        session_id=made_by.session_id,
        id=made_by.id,
        seq=seq,
        role=Role.ASSISTANT,
        author=Author.MODEL,
        parts=(tool_part(made_by.id, 0, tool),),
        created_at=NOON + seq * 1000,
    )


def said(session_id: str, seq: int, text: str, role: Role = Role.ASSISTANT) -> Message:
    return message(f"{session_id}-{seq}", seq, text, of=session_id, role=role)


def put(services: Services, session_id: str, *messages: Message, **about: Any) -> None:
    services.store.ingest.apply(NS, [delta(*messages, about=session(session_id, **about))])  # type: ignore[attr-defined]


def found(services: Services, query: str, asking: str | None = None, **given: Any) -> list[tuple[str, str | None]]:
    """Session and message of each hit, as an agent gets them."""
    given = {"query": query, **given}
    meta = {"sessionId": asking} if asking else {}
    context = CallContext("search_sessions", given, meta=meta, channel="mcp")
    result = Registry.choose().dispatch(services, LOCAL, "search_sessions", given, context)
    assert not result.is_error, result.text
    return [(each["id"], hit["messageID"]) for each in (result.structured or {})["sessions"] for hit in each["hits"]]


@pytest.mark.requirement("SCOPE-3")
def test_the_asking_session_does_not_find_its_own_question(made: Services) -> None:
    put(made, "ses_old", said("ses_old", 1, "The staging proxy listens on port 8443."))
    put(
        made,
        "ses_now",
        said("ses_now", 1, "The proxy of staging was moved yesterday.", Role.USER),
        said("ses_now", 2, "Noted: staging proxy moved."),
        said("ses_now", 3, ASKED, Role.USER),
        said("ses_now", 4, "I search for the port of the staging proxy."),
    )
    sessions = {each for each, _ in found(made, ASKED)}
    assert sessions == {"ses_old", "ses_now"}
    hits = found(made, ASKED, asking="ses_now")
    assert hits[0] == ("ses_old", "ses_old-1")
    # What was said in its earlier turns is evidence.
    assert {message for each, message in hits if each == "ses_now"} <= {"ses_now-1", "ses_now-2"}
    assert ("ses_now", "ses_now-3") in found(made, ASKED, asking="ses_now", include="self")


@pytest.mark.requirement("SCOPE-3")
@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("mcp__ovillo__search_sessions", {"query": ASKED}),
        ("ovillo_get_context", {"query": ASKED}),
        ("mcp__memory__where_discussed", {"entity": ASKED}),
        ("mcp__ovillo__recall", {"query": ASKED}),
        ("Bash", {"command": f"ovillo search '{ASKED}'"}),
        ("shell", {"command": ["bash", "-lc", f"cd /w && uv run ovillo context '{ASKED}'"]}),
    ],
)
def test_calls_of_ovillos_own_tools_and_their_results_are_not_found(
    made: Services, name: str, given: dict[str, Any]
) -> None:
    put(made, "ses_old", said("ses_old", 1, "The staging proxy listens on port 8443."))
    put(made, "ses_then", call_of("ses_then", 1, name, given, "staging proxy: listens on port 8443 (session ses_old)"))
    assert found(made, "staging proxy port") == [("ses_old", "ses_old-1")]
    assert found(made, "/staging proxy/") == [("ses_old", "ses_old-1")]
    assert ("ses_then", "ses_then-1") in found(made, "staging proxy port", include="self")
    assert [each for each, _ in found(made, f"staging tool:{name}")] == ["ses_then"]


@pytest.mark.requirement("SCOPE-3")
def test_other_calls_are_found_also_where_they_speak_of_ovillo(made: Services) -> None:
    put(made, "ses_a", call_of("ses_a", 1, "Bash", {"command": "grep -rn 'ovillo search' docs/"}, "docs/a.md: quetzal"))
    put(made, "ses_b", call_of("ses_b", 1, "mcp__tickets__search", {"query": "quetzal"}, "ticket 7"))
    assert {each for each, _ in found(made, "quetzal")} == {"ses_a", "ses_b"}


@pytest.mark.requirement("SCOPE-3")
def test_every_tool_there_is_is_known_as_our_own() -> None:
    names = [tool.name for tool in all_tools()]
    unknown = [name for name in names if not is_own_tool(f"mcp__ovillo__{name}")]
    assert unknown == []
    assert not any(map(is_own_tool, (None, "Bash", "grep", "mcp__github__search_code", "task", "system_status")))
    assert all(map(is_shell, ("Bash", "bash", "shell", "exec_command", "run_shell_command", "mcp__x__shell")))
    assert not types_own_command("Bash\ngrep ovillo search.py")


@pytest.mark.requirement("SCOPE-3")
def test_copies_count_once_and_what_is_said_again_does_not_vanish(made: Services) -> None:
    answer = "The staging proxy listens on port 8443 because nine thousand is taken by the ledger."
    put(made, "ses_main", call_of("ses_main", 1, "Task", {"prompt": "look for the port"}, answer))
    put(made, "ses_sub", said("ses_sub", 1, answer), kind=SessionKind.SUBAGENT, parent_id="ses_main")
    put(made, "ses_again", said("ses_again", 1, answer))
    first = found(made, "staging proxy ledger")
    # A session read in twice has the same text at the same time; another one that says it later is a find of its own.
    assert len({each for each, _ in first} & {"ses_main", "ses_sub"}) == 1
    put(made, "ses_later", message("later-1", 50, answer, of="ses_later", role=Role.ASSISTANT))
    assert "ses_later" in {each for each, _ in found(made, "staging proxy ledger")}


@pytest.mark.requirement("SCOPE-3")
def test_a_context_is_not_answered_with_what_the_asking_turn_says(made: Services) -> None:
    put(
        made,
        "ses_now",
        said("ses_now", 1, "Find out on which port the staging proxy listens.", Role.USER),
        said("ses_now", 2, "Maybe the staging proxy listens on port 1234, I ask the memory."),
        call_of("ses_now", 3, "mcp__ovillo__get_context", {"query": ASKED}, "staging proxy listens on port 4321"),
    )
    put(made, "ses_old", said("ses_old", 1, "The staging proxy listens on port 8443."))
    given = {"query": ASKED}
    context = CallContext("get_context", given, meta={"sessionId": "ses_now"}, channel="mcp")
    content = (Registry.choose().dispatch(made, LOCAL, "get_context", given, context).structured or {})["content"]
    assert "8443" in content
    assert "1234" not in content
    assert "4321" not in content
    given = {"query": ASKED, "include": "self"}
    content = (Registry.choose().dispatch(made, LOCAL, "get_context", given, context).structured or {})["content"]
    assert "1234" in content
