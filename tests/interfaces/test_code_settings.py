"""Settings of the code index and of entities that v6 has (mcp-v6-roadmap, "Configuration v6")."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ovillo.app import open_services
from ovillo.interfaces.backend import Backend
from ovillo.interfaces.services import Services
from ovillo.model.entities import EntityType
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.search.service import SearchRequest
from tests.builders import delta, message, session
from tests.interfaces.cli_runs import CommandLine
from tests.interfaces.opened import record, settings_for


@contextmanager
def opened(tmp_path: Path, **fields: Any) -> Iterator[Services]:
    services = open_services(replace(settings_for(tmp_path), **fields))
    yield services
    services.close()


@pytest.mark.requirement("CODE-18")
def test_code_is_not_indexed_where_that_is_switched_off(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    line = CommandLine(capsys, tmp_path / "home", tmp_path / "data", {"OVILLO_CODE_INDEXING": "false"})
    refused = line.run("code", "index", str(tmp_path / "project"))
    assert refused.code != 0
    assert "code_indexing" in refused.err


@pytest.mark.requirement("CODE-18")
@pytest.mark.parametrize(("frequency", "watches"), [("on_change", True), ("on_demand", False)])
def test_servers_follow_indexed_folders_unless_they_are_read_on_demand(
    tmp_path: Path, frequency: str, watches: bool
) -> None:
    settings = replace(settings_for(tmp_path), watch=True, code_index_frequency=frequency)
    backend = Backend(lambda: open_services(settings))
    backend.start_background()
    try:
        assert ("ovillo-code" in {thread.name for thread in threading.enumerate()}) is watches
    finally:
        backend.close()


@pytest.mark.requirement("ENT-15")
def test_kinds_of_names_that_are_not_tracked_are_not_kept(tmp_path: Path) -> None:
    said = "`process_payment()` of class PaymentProcessor reads `MAX_RETRIES`, in shop.py"
    with opened(tmp_path, track_functions=False, track_variables=False) as services:
        record(services, delta(message("m1", 1, said, of="s"), about=session("s")))
        services.entities.tracker(NS).run_until_done()
        kinds = {entity.type for entity in services.entities.entities_of_session(NS, session("s").id)}
    assert EntityType.FILE in kinds
    assert not kinds & {EntityType.FUNCTION, EntityType.METHOD, EntityType.IDENTIFIER}


@pytest.mark.requirement("ENT-15")
def test_a_search_for_an_entity_keeps_no_more_kinds_than_are_tracked(tmp_path: Path) -> None:
    said = "`process_payment()` fails in shop.py"
    with opened(tmp_path, track_functions=False) as services:
        record(services, delta(message("m1", 1, said, of="s"), about=session("s")))
        services.search.search(NS, SearchRequest("entity:shop.py fails"))
        kinds = {entity.type for entity in services.entities.entities_of_session(NS, session("s").id)}
    assert EntityType.FILE in kinds
    assert EntityType.FUNCTION not in kinds
