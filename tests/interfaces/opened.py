"""The real application over the real histories, opened once, and small ways to call its tools."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ovillo.app import open_services
from ovillo.interfaces.services import Services
from ovillo.interfaces.tools import schema
from ovillo.interfaces.tools.contract import ToolResult
from ovillo.interfaces.tools.registry import Registry, all_tools
from ovillo.model.records import DEFAULT_NAMESPACE, SessionDelta
from ovillo.security.principals import LOCAL
from ovillo.security.rules_version import rules_of
from ovillo.sessions.caller import CallContext
from ovillo.settings import Settings

CLIENTS = ("opencode-json", "opencode-sqlite", "claude-code", "codex", "gemini-cli")
REGISTRY = Registry.choose()
_OUTPUTS = {tool.name: schema.output_schema(tool.output) for tool in all_tools()}


def settings_for(home: Path, **changes: Any) -> Settings:
    """A server of these asks nobody, unless ``auth`` is told."""
    usual = {"data_dir": home / "ovillo-data", "home": home, "embedder": "none", "watch": False, "auth": "none"}
    return Settings(**{**usual, **changes})


def copy_homes(fixtures: Path, home: Path) -> Path:
    for client in CLIENTS:
        shutil.copytree(fixtures / client / "home", home, dirs_exist_ok=True)
    return home


@pytest.fixture(scope="session")
def recorded_home(fixtures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_homes(fixtures, tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def recorded(recorded_home: Path) -> Iterator[Services]:
    """All fixtures, scanned. Tests only read it."""
    services = open_services(settings_for(recorded_home))
    services.ingest.scan()
    yield services
    services.close()


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Services]:
    """Nothing recorded yet; tests put in what they need."""
    services = open_services(settings_for(tmp_path))
    yield services
    services.close()


def record(services: Services, *deltas: SessionDelta) -> None:
    """As a scan does: by which rules was masked is noted first."""
    services.store.masking.begin(rules_of(services.settings.redaction))
    services.store.ingest.apply(DEFAULT_NAMESPACE, deltas)


def call(
    services: Services, tool: str, context: CallContext | None = None, registry: Registry = REGISTRY, **arguments: Any
) -> ToolResult:
    """Any result; a good one is checked against the tool's own output schema."""
    result = registry.dispatch(services, LOCAL, tool, arguments, context)
    if result.structured is not None:
        jsonschema.validate(result.structured, _OUTPUTS[tool])
    return result


def ask(services: Services, tool: str, context: CallContext | None = None, **arguments: Any) -> Mapping[str, Any]:
    """The data of an answer that must be good."""
    result = call(services, tool, context, **arguments)
    assert not result.is_error, result.text
    assert result.structured is not None
    return result.structured


def pages(services: Services, tool: str, field: str, **arguments: Any) -> Iterator[list[Mapping[str, Any]]]:
    """``field`` of an answer and of all that follow it."""
    answer = ask(services, tool, **arguments)
    yield answer[field]
    while cursor := answer.get("nextCursor"):
        answer = ask(services, tool, **arguments, cursor=cursor)
        yield answer[field]
