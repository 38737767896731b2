"""Memories in a Chroma server: found by meaning, never waited for, caught up with after a loss, and a way back."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import pytest

from ovillo.app import open_services
from ovillo.composition import Composition
from ovillo.memory.automatic.system import RelevantContext
from ovillo.memory.chroma.client import ChromaClient
from ovillo.memory.chroma.index import ChromaIndex
from ovillo.model.errors import Conflict, UpstreamError
from ovillo.model.foreground import Foreground
from ovillo.model.memories import MemoryFilter, MemoryId, Provenance
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Namespace
from ovillo.security.principals import LOCAL
from tests.faults.test_exhausted import until
from tests.interfaces.cli_runs import CommandLine
from tests.interfaces.opened import settings_for
from tests.memory.chroma_server import chroma, free_port, needs_chroma
from tests.memory.test_operational import CONVERSATION, INCIDENT, store

SAID = "The api server ran out of memory and was killed"
ASKED = "process died since RAM was exhausted"
V2 = "llm_conversation_memory_v2"


def opened(home: Path, port: int, **settings: Any) -> AbstractContextManager[Composition]:
    usual = {"embedder": "minilm", "chroma_port": port, "chroma_collection": V2}
    return closing(open_services(settings_for(home, **{**usual, **settings})))


def index_of(services: Composition) -> ChromaIndex:
    index = services.chroma
    assert index is not None
    return index


def record(services: Composition, summary: str, namespace: Namespace = NS) -> str:
    return services.memories.episodic.record(namespace, summary, None, Provenance())[0].id


def in_meaning(services: Composition, namespace: Namespace = NS) -> list[str]:
    """What the server knows, however long it takes."""
    near = index_of(services).nearest(namespace, ASKED, 20, 60)
    return [each for each, how in near.items() if how > 0.4]


def held(services: Composition, name: str = V2) -> dict[str, str]:
    client = ChromaClient.of(services.settings)
    assert client is not None
    collection = client.find(name)
    return {} if collection is None else client.digests(collection, str(NS))


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    at = free_port()
    with chroma(tmp_path_factory.mktemp("chroma") / "data", at):
        yield at


@needs_chroma
@pytest.mark.requirement("OCS-7")
def test_memories_are_found_by_meaning_where_no_word_fits(tmp_path: Path, port: int) -> None:
    with opened(tmp_path, port, chroma_collection="meaning_v2") as services:
        wanted = record(services, SAID)
        record(services, "Blue curtains were bought for the living room")
        index_of(services).reindex(NS)
        assert in_meaning(services) == [wanted]
        # Whoever asks waits a quarter of a second; on a busy machine a later answer brings it.
        memories = services.memories
        (found,) = until(lambda: memories.episodic.search(NS, ASKED, viewer="local"), bool)
        assert found.id == wanted
        (recalled,) = until(lambda: memories.recalling.recall(NS, ASKED, viewer="local"), bool)
        assert (recalled.memory.id, recalled.why.startswith("near in meaning")) == (wanted, True)


@needs_chroma
@pytest.mark.requirement("OCS-7")
def test_automatic_recall_gives_what_the_server_finds_and_says_that_it_was_found_there(
    tmp_path: Path, port: int
) -> None:
    with opened(tmp_path, port, chroma_collection="automatic_v2", enable_orch_context=True) as services:
        wanted = record(services, SAID)
        index_of(services).reindex(NS)

        def ask() -> RelevantContext:
            given = {"error": ASKED}
            return services.auto_memory.retrieve_relevant_context(NS, "read_logs", given, "", viewer="local")

        found = until(ask, lambda context: bool(context.summaries))
        (summary,) = found.summaries
        assert (summary.memory_id, summary.origin) == (wanted, "chroma")
        assert summary.similarity is not None
        assert summary.similarity >= 0.4


@needs_chroma
@pytest.mark.requirement("OCS-7")
def test_another_namespace_neither_sees_nor_loses_what_the_collection_holds(tmp_path: Path, port: int) -> None:
    team = Namespace("team")
    with opened(tmp_path, port, chroma_collection="namespaces_v2") as services:
        ours, theirs = record(services, SAID), record(services, f"{SAID} again", team)
        for _ in range(2):
            for namespace in (NS, team):
                index_of(services).reindex(namespace)
        assert (in_meaning(services), in_meaning(services, team)) == ([ours], [theirs])


@needs_chroma
@pytest.mark.requirement("OCS-8")
def test_what_is_kept_while_the_server_is_lost_arrives_when_it_is_back(tmp_path: Path) -> None:
    at, stop = free_port(), threading.Event()
    with opened(tmp_path, at) as services:
        sending = threading.Thread(target=index_of(services).run, args=(stop, lambda: [NS]))
        sending.start()
        try:
            with chroma(tmp_path / "chroma", at):
                first = record(services, SAID)
                _when(lambda: set(held(services)) == {first})
            second = record(services, f"{SAID} once more")
            assert [each.id for each in services.memories.episodic.search(NS, "server killed", viewer="local")]
            services.memories.forgetting.forget(LOCAL, "test", MemoryFilter(ids=(MemoryId(first),)))
            with chroma(tmp_path / "chroma", at):
                _when(lambda: set(held(services)) == {second})
        finally:
            stop.set()
            sending.join()


@needs_chroma
@pytest.mark.requirement("OCS-9")
def test_a_second_collection_is_filled_beside_the_first_which_stays_as_it_is(
    tmp_path: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(tmp_path, port, chroma_collection="llm_conversation_memory") as services:
        client = ChromaClient.of(services.settings)
        assert client is not None
        client.prepare()
        theirs = client.create("llm_conversation_memory", {"made by": "another program"})
        store(services, "store_incident", INCIDENT)
        store(services, "store_conversation", CONVERSATION)
        with pytest.raises(Conflict, match="is not ovillo's"):
            index_of(services).reindex(NS)
    environment = {"CHROMA_PORT": str(port), "OVILLO_EMBEDDER": "minilm"}
    line = CommandLine(capsys, tmp_path, tmp_path / "ovillo-data", environment)
    answers = [line.run("migrate", "chroma", "--json", *more).json() for more in (["--dry-run"], [], [])]
    assert [each["sent"] for each in answers] == [2, 2, 0]
    assert line.run("migrate", "chroma", "--json", "--fresh").json()["sent"] == 2
    refused = line.run("migrate", "chroma", "--fresh", "--collection", "llm_conversation_memory")
    assert (refused.code != 0, "is not ovillo's" in refused.err) == (True, True)
    assert {each["collection"] for each in answers} == {V2}
    with opened(tmp_path, port) as services:
        assert len(held(services)) == 2
        assert client.find("llm_conversation_memory") == theirs
        assert client.count(theirs) == 0


@pytest.mark.requirement("OCS-8")
def test_a_server_that_takes_every_question_and_never_answers_holds_nobody_up(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as hung, opened(tmp_path, hung.getsockname()[1]) as services:
        kept: list[str] = []

        def use() -> None:
            kept.append(record(services, SAID))
            kept.extend(each.id for each in services.memories.episodic.search(NS, "server killed", viewer="local"))
            kept.extend(each.memory.id for each in services.memories.recalling.recall(NS, "server", viewer="local"))

        using = threading.Thread(target=use, daemon=True)
        using.start()
        # The server is asked for ten seconds before it is given up; whoever waited for it is not back before.
        using.join(timeout=8)
        assert len(kept) == 3
        assert len(set(kept)) == 1
    # They hear that the connection is gone, and log it.
    until(lambda: [each for each in threading.enumerate() if each.name == "ovillo-chroma-ask"], lambda found: not found)


@pytest.mark.requirement("OCS-8")
def test_without_a_server_memories_are_found_by_their_words(tmp_path: Path) -> None:
    with opened(tmp_path, free_port()) as services:
        wanted = record(services, SAID)
        for _ in range(3):
            assert [each.id for each in services.memories.episodic.search(NS, "memory", viewer="local")] == [wanted]
        with pytest.raises(UpstreamError) as told:
            index_of(services).reindex(NS)
        assert SAID not in str(told.value)


@pytest.mark.requirement("OCS-7")
@pytest.mark.parametrize(
    "settings", [{"chroma_port": None}, {"force_json": True}, {"chroma_port": None, "chroma_collection": "c"}]
)
def test_no_server_is_asked_unless_its_host_or_port_is_set_and_json_only_is_not(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    with opened(tmp_path, 1, **settings) as services:
        assert services.chroma is None
        assert "ovillo-chroma" not in {job.thread for job in services.background.jobs(lambda _: None, Foreground())}


def _when(is_so: Callable[[], bool]) -> None:
    def look() -> bool:
        try:
            return is_so()
        except UpstreamError:
            return False

    until(look, bool)


@needs_chroma
@pytest.mark.requirement("OCS-10")
def test_status_and_doctor_tell_how_far_the_collection_is_behind(
    tmp_path: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(tmp_path, port, chroma_collection="standing_v2") as services:
        ids = [MemoryId(record(services, f"{SAID} {number}")) for number in range(3)]
        standing = index_of(services).standing([NS])
        assert (standing.is_reachable, standing.memories, standing.behind) == (True, 3, 3)
        index_of(services).reindex(NS)
        assert index_of(services).standing([NS]).behind == 0
        services.memories.forgetting.forget(LOCAL, "test", MemoryFilter(ids=tuple(ids)))
        assert index_of(services).standing([NS]).behind == 3, "what it has too much"
        data_dir = services.settings.data_dir
    home = CommandLine(capsys, tmp_path, data_dir, {"CHROMA_PORT": str(port), "CHROMA_COLLECTION": "standing_v2"})
    told = home.run("status", "--metrics", "--json").json()
    assert told["metrics"]["chroma"] == {
        "collection": "standing_v2",
        "reachable": True,
        "memories": 0,
        "behind": 3,
        "lastError": None,
    }
    checks = {check["name"]: check for check in home.run("doctor", "--json").json()["checks"]}
    assert "behind by 3 of 0 memories" in checks["Chroma"]["detail"]


@pytest.mark.requirement("OCS-10")
def test_status_and_doctor_say_when_the_server_cannot_be_reached(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = CommandLine(capsys, tmp_path, tmp_path / "data", {"CHROMA_PORT": str(free_port())})
    home.run("memory", "episode", "record", "it rained")
    told = home.run("status", "--metrics", "--json").json()
    assert told["status"] == "degraded"
    assert (told["metrics"]["chroma"]["reachable"], told["metrics"]["chroma"]["memories"]) == (False, 1)
    assert "did not answer" in told["metrics"]["chroma"]["lastError"]
    checks = {check["name"]: check for check in home.run("doctor", "--json").json()["checks"]}
    assert (checks["Chroma"]["status"], "cannot be reached" in checks["Chroma"]["detail"]) == ("warn", True)
