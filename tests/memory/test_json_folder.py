"""The folder of JSON files shared with MCP-OCS: copies of version 2, or read and written as version 1, and the way back."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import pytest

from ovillo.app import open_services
from ovillo.interfaces.services import Services
from ovillo.legacy.mcp_ocs_records import normalised
from ovillo.model.memories import Layer, MemoryFilter, MemoryId
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.security.principals import LOCAL
from tests.builders import delta, session
from tests.faults.test_exhausted import until
from tests.interfaces.opened import record, settings_for
from tests.memory.test_operational import ALL, AT, CONVERSATION, INCIDENT, store

#: What programs that know version 1 only write and read.
FIELDS = {
    "store_incident": {
        *("incidentId", "domain", "timestamp", "symptoms", "rootCause", "resolution", "affectedResources"),
        *("diagnosticSteps", "tags", "environment"),
    },
    "store_conversation": {
        "sessionId",
        "domain",
        "timestamp",
        "userMessage",
        "assistantResponse",
        "context",
        "tags",
    },
}


def opened(home: Path, **settings: Any) -> AbstractContextManager[Services]:
    return closing(open_services(settings_for(home, **{"shared_memory_dir": home / "memory", **settings})))


def files(home: Path) -> dict[str, Any]:
    return {str(path.relative_to(home / "memory")): json.loads(path.read_text()) for path in every_file(home)}


def every_file(home: Path) -> list[Path]:
    return sorted(path for path in (home / "memory").rglob("*") if path.is_file())


def found(services: Services, query: str) -> list[Mapping[str, Any]]:
    return list(store(services, "episode_search", {"query": query})["memories"])


@pytest.mark.requirement("OCS-3")
def test_with_unified_memory_each_record_is_also_a_file_of_version_2_for_its_owner_alone(tmp_path: Path) -> None:
    with opened(tmp_path, unified_memory=True) as services:
        at = store(services, "store_incident", INCIDENT)["timestamp"]
        store(services, "store_conversation", CONVERSATION)
        store(services, "store_tool_exec", ALL["store_tool_exec"])
        store(services, "store_incident", INCIDENT)
        kept = services.memories.listed(NS, MemoryFilter(layers=(Layer.EPISODIC,)), 10)
    written = files(tmp_path)
    assert set(written) == {
        f"default/operational/incident-7_{at}.json",
        f"default/conversations/s-1_{at}.json",
        f"default/conversations/s-1_{at}_1.json",
    }
    for each in written.values():
        assert each["version"] == 2
        assert each == normalised(each)
    assert sorted(map(json.dumps, written.values())) == sorted(json.dumps(each.value) for each in kept)
    assert {path.stat().st_mode & 0o777 for path in every_file(tmp_path)} == {0o600}


@pytest.mark.requirement("OCS-4")
def test_without_unified_memory_files_are_version_1_and_come_back_as_the_same_memories(tmp_path: Path) -> None:
    with opened(tmp_path) as services:
        for tool, given in ALL.items():
            store(services, tool, given)
        before = services.memories.listed(NS, MemoryFilter(), 10)
    written = list(files(tmp_path).values())
    assert all("version" not in each and "kind" not in each for each in written)
    incident = next(each for each in written if "incidentId" in each)
    assert set(incident) == FIELDS["store_incident"]
    assert all(set(each) == FIELDS["store_conversation"] for each in written if "sessionId" in each)
    # A machine that has the files only.
    shutil.rmtree(tmp_path / "ovillo-data")
    with opened(tmp_path) as services:
        again = services.memories.listed(NS, MemoryFilter(), 10)
    assert {(each.id, each.kind, each.tags) for each in again} == {(each.id, each.kind, each.tags) for each in before}


@pytest.mark.requirement("OCS-4")
def test_without_unified_memory_what_other_programs_wrote_in_either_version_is_found(tmp_path: Path) -> None:
    with opened(tmp_path) as services:
        assert found(services, "etcd") == []
        version_1 = {
            "sessionId": "x",
            "timestamp": 1755000000000,
            "userMessage": "etcd is slow",
            "assistantResponse": "",
        }
        folder = tmp_path / "memory" / "default" / "conversations"
        folder.mkdir(parents=True)
        (folder / "x_1755000000000.json").write_text(json.dumps({**version_1, "tags": "A,b", "context": "ns/etcd"}))
        (tmp_path / "memory" / "y.json").write_text(
            json.dumps(
                [normalised({**version_1, "sessionId": "y", "userMessage": "etcd lost a member"}), {"no": "record"}]
            )
        )
        first = found(services, "etcd")
        assert {each["key"] for each in first} == {"x", "y"}
        old = next(each for each in first if each["key"] == "x")
        assert {"a", "b", "kind:conversation", "domain:unknown", "environment:unknown"} == set(old["tags"])
        assert old["trust"] == "untrusted"
        assert len(found(services, "etcd")) == 2
        assert {each["id"] for each in store(services, "recall", {"query": "etcd"})["memories"]} <= {
            each["id"] for each in first
        }


@pytest.mark.requirement("OCS-5")
def test_one_setting_leads_back_to_version_1_and_nothing_is_lost_on_the_way(tmp_path: Path) -> None:
    kept = {}
    for number, unified in enumerate((False, True, False)):
        with opened(tmp_path, unified_memory=unified) as services:
            given = {**CONVERSATION, "sessionId": f"s-{number}", "userMessage": f"round {number} of etcd"}
            kept[number] = store(services, "store_conversation", given)["id"]
            assert {each["id"] for each in found(services, "etcd")} == set(kept.values())
    assert ["version" in each for each in files(tmp_path).values()] == [False, True, False]
    shutil.rmtree(tmp_path / "ovillo-data")
    with opened(tmp_path, unified_memory=False) as services:
        assert {each["id"] for each in found(services, "etcd")} == set(kept.values())


@pytest.mark.requirement("OCS-3")
def test_json_only_keeps_its_files_in_the_data_folder_where_no_folder_is_named(tmp_path: Path) -> None:
    with opened(tmp_path, shared_memory_dir=None, force_json=True) as services:
        store(services, "store_incident", INCIDENT)
        assert len(found(services, "crash")) == 1
    assert len(list((tmp_path / "ovillo-data" / "memory" / "default" / "operational").glob("*.json"))) == 1


@pytest.mark.requirement("OCS-3")
def test_without_a_folder_nothing_is_written_beside_the_store(tmp_path: Path) -> None:
    with opened(tmp_path, shared_memory_dir=None) as services:
        store(services, "store_incident", INCIDENT)
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.requirement("OCS-3")
@pytest.mark.parametrize("unified", [True, False])
def test_a_forgotten_record_leaves_the_folder_too(tmp_path: Path, unified: bool) -> None:
    with opened(tmp_path, unified_memory=unified) as services:
        gone = store(services, "store_incident", INCIDENT)["id"]
        stays = store(services, "store_conversation", CONVERSATION)["id"]
        services.memories.forgetting.forget(LOCAL, "test", MemoryFilter(ids=(MemoryId(gone),)))
        assert [each.id for each in services.memories.listed(NS, MemoryFilter(), 10)] == [stays]
    assert [each["sessionId"] for each in files(tmp_path).values()] == ["s-1"]


@pytest.mark.requirement("OCS-3")
def test_a_folder_that_cannot_be_written_costs_no_record_and_is_filled_later(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("in the way")
    with opened(tmp_path, unified_memory=True) as services:
        first = store(services, "store_incident", INCIDENT)
        assert first["copy_fault"]
        assert first["is_new"]
        (tmp_path / "memory").unlink()
        second = store(services, "store_conversation", CONVERSATION)
        assert "copy_fault" not in second
    assert len(files(tmp_path)) == 2


@pytest.mark.requirement("OCS-3")
@pytest.mark.parametrize("name", ["../../../outside", "/etc/x", "..", "a/b\\c:d", "é" * 300])
def test_an_id_never_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    with opened(tmp_path, unified_memory=True) as services:
        store(services, "store_conversation", {**CONVERSATION, "sessionId": name[:190], "timestamp": AT})
    (path,) = every_file(tmp_path)
    assert path.parent == tmp_path / "memory" / "default" / "conversations"
    assert list(tmp_path.glob("*.json")) == []


@pytest.mark.requirement("OCS-4")
def test_automatic_recall_sees_what_other_programs_wrote(tmp_path: Path) -> None:
    theirs = {
        "sessionId": "x",
        "timestamp": 1795000000000,
        "userMessage": "etcd is slow: disk full",
        "assistantResponse": "",
    }
    folder = tmp_path / "memory" / "default" / "conversations"
    folder.mkdir(parents=True)
    (folder / "x_1795000000000.json").write_text(json.dumps(theirs))
    with opened(tmp_path, enable_orch_context=True) as services:

        def ask() -> list[str]:
            args = {"error": "etcd is slow"}
            found = services.auto_memory.retrieve_relevant_context(NS, "read_logs", args, "x", viewer="local")
            return [each.snippet for each in found.summaries]

        # The first time reads the folder whole, which may take longer than anybody waits.
        assert "etcd is slow" in until(ask, bool)[0]


@pytest.mark.requirement("OCS-3")
@pytest.mark.parametrize("unified", [True, False])
def test_records_of_a_forgotten_session_leave_the_folder_and_do_not_come_back(tmp_path: Path, unified: bool) -> None:
    with opened(tmp_path, unified_memory=unified) as services:
        record(services, delta(about=session("s-1")))
        store(services, "store_conversation", CONVERSATION)
        kept = store(services, "store_conversation", {**CONVERSATION, "sessionId": "s-2"})["id"]
        services.forgetting.forget(LOCAL, "cli", services.forgetting.plan(NS, "session", "s-1"))
        assert [each.id for each in services.memories.listed(NS, MemoryFilter(), 10)] == [kept]
    assert [each["sessionId"] for each in files(tmp_path).values()] == ["s-2"]
