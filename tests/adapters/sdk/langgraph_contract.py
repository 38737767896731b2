"""LangGraph's own conformance suite on the saver, and what its users would miss else. Runs where the SDK is (``make adapters``)."""

from __future__ import annotations

import asyncio
import itertools
import random
import string
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt

from ovillo.adapters import opened
from ovillo.adapters.langgraph import OvilloSaver
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import SessionId
from ovillo.search.service import SearchRequest


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    opened.close()


def test_the_conformance_suite_of_langgraph_passes(tmp_path: Path) -> None:
    number = itertools.count()

    @checkpointer_test(name="OvilloSaver")
    async def saver() -> AsyncIterator[OvilloSaver]:
        yield OvilloSaver(data_dir=tmp_path / str(next(number)))

    report = asyncio.run(validate(saver))
    results = report.to_dict()["results"]
    failures = {name: found["failures"] for name, found in results.items() if found["failures"]}
    assert failures == {}
    assert report.passed_all()
    passed, skipped = (sum(found[f"tests_{how}"] for found in results.values()) for how in ("passed", "skipped"))
    assert (report.conformance_level(), passed, skipped) == ("FULL", 81, 0)


class Talk(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]


def answer(state: Talk) -> dict[str, Any]:
    asked = state["messages"][-1].content
    if "sure" in str(asked):
        asked = interrupt("Is the clerk sure?")
    call = {"name": "look_up", "args": {"bank": "zorvath"}, "id": "c1"}
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, "input_token_details": {"cache_read": 4}}
    return {
        "messages": [
            AIMessage("", tool_calls=[call], usage_metadata=usage, response_metadata={"model_name": "model-x"}),
            ToolMessage("those of 2019", tool_call_id="c1"),
            AIMessage(f"You asked: {asked}. Those of 2019."),
        ]
    }


def graph_of(saver: OvilloSaver) -> Any:
    builder = StateGraph(Talk)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    return builder.compile(checkpointer=saver)


def messages_of(folder: Path, thread: str) -> list[Any]:
    return opened.opened(folder).store.sessions.messages(NS, SessionId(f"langgraph:{thread}"), limit=999)


def test_what_a_graph_says_is_found_with_model_and_tokens_and_each_message_once(tmp_path: Path) -> None:
    config = {"configurable": {"thread_id": "t1"}}
    for question in ("Which cards does the quuxel bank refuse?", "And which ones does it take?"):
        graph_of(OvilloSaver(data_dir=tmp_path)).invoke({"messages": [("user", question)]}, config)
    said = messages_of(tmp_path, "t1")
    assert [each.role for each in said] == ["user", "assistant", "tool", "assistant"] * 2
    assert (said[1].model, said[1].usage.input, said[1].usage.cache_read) == ("model-x", 6, 4)
    assert said[1].parts[0].tool.input == {"bank": "zorvath"}
    [found] = opened.opened(tmp_path).search.search(NS, SearchRequest("quuxel")).sessions
    assert found.summary.session.id == "langgraph:t1"


def test_a_graph_goes_on_after_an_interrupt_in_another_process_and_back_in_time(tmp_path: Path) -> None:
    config: Any = {"configurable": {"thread_id": "t1"}}
    graph = graph_of(OvilloSaver(data_dir=tmp_path))
    graph.invoke({"messages": [("user", "are you sure?")]}, config)
    opened.close()
    graph = graph_of(OvilloSaver(data_dir=tmp_path))
    done = graph.invoke(Command(resume="yes, quite"), config)
    assert done["messages"][-1].content == "You asked: yes, quite. Those of 2019."
    first = list(graph.get_state_history(config))[-1]
    again = graph.update_state(first.config, {"messages": [HumanMessage("another way")]})
    assert [each.content for each in graph.get_state(again).values["messages"]] == ["another way"]


def joined(before: list[str] | None, writes: list[list[str]]) -> list[str]:
    return [*(before or []), *itertools.chain(*writes)]


class Log(TypedDict):
    log: Annotated[list[str], DeltaChannel(joined, snapshot_frequency=4)]


def test_a_channel_of_deltas_is_the_same_after_pruning(tmp_path: Path) -> None:
    builder = StateGraph(Log)
    builder.add_node("answers", lambda state: {"log": [f"answer {len(state['log'])}"]})
    builder.add_edge(START, "answers")
    saver = OvilloSaver(data_dir=tmp_path)
    graph, config = builder.compile(checkpointer=saver), {"configurable": {"thread_id": "t1"}}
    for number in range(7):
        graph.invoke({"log": [f"question {number}"]}, config)
    said, many = graph.get_state(config).values, len(list(saver.list(config)))
    assert len(said["log"]) == 14
    saver.prune(["t1"])
    assert len(list(saver.list(config))) < many / 3
    assert graph.get_state(config).values == said


def test_a_graph_without_messages_is_found_by_its_channels_of_text(tmp_path: Path) -> None:
    class State(TypedDict):
        question: str
        answer: str

    builder = StateGraph(State)
    builder.add_node("answers", lambda state: {"answer": "those of 2019"})
    builder.add_edge(START, "answers")
    graph = builder.compile(checkpointer=OvilloSaver(data_dir=tmp_path))
    graph.invoke({"question": "which zorvath cards"}, {"configurable": {"thread_id": "t1"}})
    said = [(each.role, each.parts[0].text) for each in messages_of(tmp_path, "t1")]
    assert said == [("user", "question: which zorvath cards"), ("assistant", "answer: those of 2019")]


def test_deleting_a_thread_leaves_what_was_said_and_a_person_removes_that_too(tmp_path: Path) -> None:
    saver = OvilloSaver(data_dir=tmp_path)
    graph_of(saver).invoke({"messages": [("user", "Which cards?")]}, {"configurable": {"thread_id": "t1"}})
    saver.delete_thread("t1")
    assert saver.get_tuple({"configurable": {"thread_id": "t1"}}) is None
    assert len(messages_of(tmp_path, "t1")) == 4
    services = opened.opened(tmp_path)
    services.recorder.delete(NS, SessionId("langgraph:t1"))
    graph_of(saver).invoke({"messages": [("user", "Which cards?")]}, {"configurable": {"thread_id": "t1"}})
    assert len(messages_of(tmp_path, "t1")) == 4
    services.store.forgetting.forget_session(NS, SessionId("langgraph:t1"), at=1)
    assert messages_of(tmp_path, "t1") == []


@dataclass
class Own:
    when: datetime
    data: bytes


def test_values_of_all_kinds_come_back_and_secrets_do_not(tmp_path: Path) -> None:
    secret = "gh" + "p_" + "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=36))
    values = {
        "plain": [1, -(2**63), 2**64 - 1, 1.0, 0.1, float("inf"), True, None, "año 🐘", ""],
        "bytes": bytes(range(256)),
        "keys": {1: "one", "$bytes": "a key of ours", "$map": {"$in": [1]}, (1, 2): "pair"},
        "own": Own(datetime(2026, 11, 22, tzinfo=UTC), b"\x00\xff"),
        "set": {"a", "b"},
        "messages": [HumanMessage("hello", id="h1"), AIMessage([{"type": "text", "text": "x"}], id="a1")],
    }
    saver = OvilloSaver(data_dir=tmp_path)
    config: Any = {"configurable": {"thread_id": f"a thread / {'long' * 99}", "checkpoint_ns": ""}}
    told = {**values, "secret": {"deep": [AIMessage(f"My token is {secret}", id="a2")]}}
    versions = {name: saver.get_next_version(None, None) for name in told}
    checkpoint: Any = {
        **{"v": 2, "id": "1f0", "ts": "2026", "versions_seen": {}, "updated_channels": None, "pending_sends": []},
        **{"channel_values": told, "channel_versions": versions},
    }
    kept = saver.put(config, checkpoint, {"source": "loop", "step": 0}, versions)
    saver.put_writes(kept, [("ch", values)], "task")
    opened.close()
    found = OvilloSaver(data_dir=tmp_path).get_tuple(kept)
    assert found is not None
    back = found.checkpoint["channel_values"]
    [masked] = back.pop("secret")["deep"]
    assert masked.content.startswith("My token is [redacted:github_token:")
    assert back == values
    assert found.pending_writes == [("task", "ch", values)]
    opened.close()
    assert secret.encode() not in b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


PUTTING = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from langgraph_contract import graph_of
from ovillo.adapters.langgraph import OvilloSaver
graph = graph_of(OvilloSaver(data_dir=Path(sys.argv[1])))
for n in range(8):
    graph.invoke({"messages": [("user", f"{sys.argv[2]}-{n}")]}, {"configurable": {"thread_id": sys.argv[2]}})
    graph.invoke({"messages": [("user", f"{sys.argv[2]}-{n}")]}, {"configurable": {"thread_id": "shared"}})
"""


def test_processes_at_once_lose_no_checkpoint(tmp_path: Path) -> None:
    here = str(Path(__file__).parent)
    started = [subprocess.Popen([sys.executable, "-c", PUTTING, str(tmp_path), name, here]) for name in "ab"]
    assert [process.wait(timeout=100) for process in started] == [0, 0]
    saver = OvilloSaver(data_dir=tmp_path)
    for name in "ab":
        last = saver.get_tuple({"configurable": {"thread_id": name}})
        assert last is not None
        assert len(last.checkpoint["channel_values"]["messages"]) == 32
        assert len(messages_of(tmp_path, name)) == 32
    # Input, two steps: three checkpoints a run.
    assert len(list(saver.list({"configurable": {"thread_id": "shared"}}))) == 48
    asked = [each.parts[0].text for each in messages_of(tmp_path, "shared") if each.role == "user"]
    assert sorted(asked) == sorted(f"{name}-{n}" for name in "ab" for n in range(8))
