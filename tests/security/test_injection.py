"""Nothing that was recorded gets out of its quote: every tool, resource and prompt, asked for hostile text."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from mcp import Client

from ovillo.app import open_services
from ovillo.interfaces.mcp import resources
from ovillo.interfaces.services import Services
from ovillo.interfaces.tools.registry import Registry, all_tools
from ovillo.model import records
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.security.principals import LOCAL
from ovillo.sessions.drafts import SessionDraft
from tests.interfaces.opened import settings_for
from tests.interfaces.test_mcp_server import with_client
from tests.security.asked import CODE, RECALLING, TASK, TOOLS
from tests.security.marks import NOTICE, answer_faults, raw_in
from tests.security.planting import CHILD, FILE_NAME, FILLED, HOSTILE, MARK, NOT_SHOWN, PLAIN, SECOND, planted

_REGISTRY = Registry.choose(["all"])


@pytest.fixture(scope="module")
def planted_services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Services, Path]]:
    folder = tmp_path_factory.mktemp("planted")
    services = open_services(settings_for(folder))
    code = planted(services, folder)
    services.recorder.create(NS, SessionDraft(name=HOSTILE, id="own"))
    yield services, code
    services.close()


def test_every_record_of_the_model_is_planted_or_named_as_not_shown() -> None:
    shapes = {each for _, each in inspect.getmembers(records, dataclasses.is_dataclass)}
    assert shapes == FILLED | NOT_SHOWN


def test_every_tool_is_asked() -> None:
    assert {tool.name for tool in all_tools()} == set(TOOLS)


@pytest.mark.requirement("SEC-40")
@pytest.mark.parametrize("name", sorted(TOOLS))
def test_recorded_text_stays_in_its_quotes(name: str, planted_services: tuple[Services, Path]) -> None:
    services, code = planted_services
    seen = ""
    for arguments in TOOLS[name]:
        given = {key: _given(value, services, code) for key, value in arguments.items()}
        result = _REGISTRY.dispatch(services, LOCAL, name, given)
        assert result.error_code != "internal", result.text
        assert answer_faults(result.text) == [], f"{given!r:.200}"
        if result.structured is not None:
            assert msgspec.json.decode(msgspec.json.encode(result.structured)) is not None
        seen += result.text
    assert MARK in seen or name not in RECALLING


def _given(value: Any, services: Services, code: Path) -> Any:
    if value is CODE:
        return str(code)
    if value is TASK:
        (code / f"made {FILE_NAME}.txt").write_text("new")
        return next(task.id for task in services.timesheet.open_tasks(NS) if task.directory)
    return value


@pytest.mark.requirement("SEC-40")
@pytest.mark.parametrize("name", sorted(TOOLS))
def test_errors_quote_what_they_repeat(name: str, planted_services: tuple[Services, Path]) -> None:
    services, _ = planted_services
    (tool,) = (each for each in all_tools() if each.name == name)
    fields = [field.encode_name for field in msgspec.structs.fields(tool.input)]
    wrong: list[dict[str, Any]] = [{HOSTILE: 1}, dict.fromkeys(fields, HOSTILE), {**TOOLS[name][0], HOSTILE: HOSTILE}]
    wrong += [{**TOOLS[name][0], field: HOSTILE} for field in fields]
    for arguments in wrong:
        given = {key: value for key, value in arguments.items() if value not in (CODE, TASK)}
        result = _REGISTRY.dispatch(services, LOCAL, name, given)
        assert result.error_code != "internal", result.text
        assert answer_faults(result.text, recalled=False) == [], f"{given!r:.200}"
    unknown = _REGISTRY.dispatch(services, LOCAL, HOSTILE, {})
    assert answer_faults(unknown.text, recalled=False) == []


@pytest.mark.requirement("SEC-40")
def test_resources_are_quoted_and_their_addresses_are_plain(planted_services: tuple[Services, Path]) -> None:
    services, _ = planted_services
    for session_id in (PLAIN, SECOND, CHILD, f"nothing {HOSTILE}"):
        uri = resources.session_uri(session_id)
        assert uri.isascii()
        assert uri.isprintable()
        for each in (uri, f"{uri}/message/msg_1", f"{uri}?cursor={HOSTILE}", f"x{HOSTILE}"):
            assert answer_faults(_read(services, each), recalled=False) == []


def _read(services: Services, uri: str) -> str:
    try:
        return resources.read(uri, lambda name, given: _REGISTRY.dispatch(services, LOCAL, name, given))
    except resources.NoSuchResource as missing:
        return missing.reason


#: Prompt -> arguments of calls.
_PROMPTS: dict[str, list[dict[str, str]]] = {
    "continue_where_we_left_off": [{"sessionID": PLAIN}, {"sessionID": SECOND}, {"sessionID": HOSTILE}],
    "what_did_we_decide_about": [{"topic": "validate_card"}, {"topic": HOSTILE}],
}


@pytest.mark.requirement("SEC-40")
def test_prompts_and_lists_over_mcp_are_quoted(planted_services: tuple[Services, Path]) -> None:
    services, _ = planted_services

    async def work(client: Client) -> None:
        assert {each.name for each in (await client.list_prompts()).prompts} == set(_PROMPTS)
        for name, calls in _PROMPTS.items():
            for arguments in calls:
                said = (await client.get_prompt(name, arguments)).messages[0].content.text
                assert "quoted data, not instructions" in said.split("\n")[0]
                assert answer_faults(said.replace(NOTICE, ""), recalled=False) == []
        for listed in (await client.list_resources()).resources:
            assert raw_in(f"{listed.uri} {listed.title} {listed.description}") == []
            assert "\n" not in f"{listed.title}{listed.description}"
        for name, given in (("get_session_history", {"sessionID": SECOND}), (HOSTILE, {})):
            result = await client.call_tool(name, given)
            assert answer_faults(result.content[0].text, recalled=name != HOSTILE) == []
            assert name == HOSTILE or result.structured_content["notice"] == NOTICE

    with_client(services, "2026-07-28", work)
