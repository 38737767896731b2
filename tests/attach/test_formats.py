"""Putting one entry into settings of every form and taking it out again: everything else stays, byte for byte."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ovillo.attach.formats import EDITORS, Uneditable
from ovillo.attach.formats.json_text import JsonEditor

VALUE: dict[str, Any] = {"command": "/opt/a b/ovillo", "args": ["mcp"], "enabled": True}
JSON, TOML, YAML = JsonEditor(), EDITORS["toml"], EDITORS["yaml"]
SERVERS = ("mcpServers", "ovillo")

_JSON_TEXTS = [
    "{}",
    "{\n}\n",
    '{"a":1}',
    '{ "a": [1,2,{"b":"//no"}]   }',
    '{\n  "a": 1\n}',
    '{\n\t"a": 1, // about a\n\t"mcpServers": {\n\t\t"x": {"c":1} // about x\n\t}\n}\n',
    '{"mcpServers": {"x": {}}}',
    '\ufeff{\r\n    "mcpServers": {\r\n        "b": {"command": "x"},\r\n    },\r\n    /* end */\r\n}',
    "{\n  // nothing yet\n}\n",
    '{\n  "mcpServers": {\n    // the one\n    "x": {} /* and its note */\n    // behind it\n  }\n}\n',
]


@pytest.mark.requirement("CLI-64")
@pytest.mark.parametrize("text", _JSON_TEXTS)
def test_an_entry_in_json_with_comments_goes_in_and_out_without_a_trace(text: str) -> None:
    after = JSON.put(text, SERVERS, VALUE)
    assert JSON.find(after, SERVERS) == VALUE
    assert JSON.put(after, SERVERS, VALUE) == after
    assert JSON.take_out(after, SERVERS) == text
    comments = [line.split("//")[1] for line in text.splitlines() if "//" in line and '"//' not in line]
    assert all(comment in after for comment in comments)


def test_the_comment_behind_the_last_entry_stays_in_its_line() -> None:
    after = JSON.put(_JSON_TEXTS[5], SERVERS, VALUE)
    assert '"x": {"c":1}, // about x\n' in after


def test_what_is_edited_after_ours_went_in_stays_when_ours_goes_out() -> None:
    after = JSON.put('{"mcpServers": {"x": {}}}', SERVERS, VALUE)
    edited = JSON.put(after, ("mcpServers", "y"), {"command": "y"})
    assert json.loads(JSON.take_out(edited, SERVERS)) == {"mcpServers": {"x": {}, "y": {"command": "y"}}}


_NAMES = st.text(st.characters(blacklist_categories=("Cs",)), max_size=8)
_SETTINGS = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9**12) | _NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(_NAMES, _SETTINGS, max_size=4), st.sampled_from([None, 1, 4, "\t"]), st.booleans())
def test_any_settings_mean_the_same_but_for_the_entry(
    data: dict[str, Any], indent: int | str | None, windows: bool
) -> None:
    data.pop("mcpServers", None)
    text = json.dumps(data, indent=indent, ensure_ascii=False)
    text = text.replace("\n", "\r\n") if windows else text
    after = JSON.put(text, SERVERS, VALUE)
    assert json.loads(after) == {**data, "mcpServers": {"ovillo": VALUE}}
    assert json.loads(JSON.take_out(after, SERVERS)) == data


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1',
        "[]",
        '{"a": 1, "a": 2}',
        '{"mcpServers": []}',
        '{"a": tru}',
        "{" * 300 + "}" * 300,
        '{"a": "\n"}',
        "{,}",
    ],
)
def test_json_that_is_broken_or_means_two_things_is_refused(text: str) -> None:
    with pytest.raises(Uneditable):
        JSON.put(text, SERVERS, VALUE)


@pytest.mark.parametrize(
    "text",
    [
        '{\n  "hooks": {\n    "Stop": [\n      {"a": 1} // theirs\n    ]\n  }\n}\n',
        '{"hooks":{"Stop":[{"a":1}]}}',
        '{"hooks":{"Start":[]}}',
    ],
)
def test_a_hook_is_appended_behind_those_of_others(text: str) -> None:
    group = {"hooks": [{"command": "ours"}]}
    after = JSON.append(text, ("hooks", "Stop"), group)
    found = JSON.find(after, ("hooks", "Stop"))
    assert isinstance(found, list)
    assert found[-1] == group
    assert JSON.append(after, ("hooks", "Stop"), group) == after
    assert JSON.drop(after, ("hooks", "Stop"), group) == text


@pytest.mark.requirement("CLI-64")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "a = 1\n[x]\nb = 2 # about b\n",
        "[mcp_servers.o]\r\ncommand = 'x'\r\n",
        "mcp_servers.dotted.command = 'x' # theirs\n",
        "[mcp_servers.x]\ncommand = '''\n[not.a.header]\n'''\n# at the end\n",
    ],
)
def test_an_entry_in_toml_goes_in_and_out_without_a_trace(text: str) -> None:
    keys = ("mcp_servers", "ovillo")
    after = TOML.put(text, keys, VALUE)
    assert tomllib.loads(after)["mcp_servers"]["ovillo"] == VALUE
    assert TOML.put(after, keys, VALUE) == after
    assert TOML.take_out(after, keys) == text


def test_a_table_that_its_client_wrote_anew_is_found_and_cut_out_of_the_middle() -> None:
    text = '[mcp_servers.a]\nx = 1\n\n[mcp_servers.ovillo]\ncommand = "o"\n[mcp_servers.ovillo.env]\nA = "b"\n\n# about z\n[z]\n'
    assert TOML.take_out(text, ("mcp_servers", "ovillo")) == "[mcp_servers.a]\nx = 1\n\n# about z\n[z]\n"


@pytest.mark.parametrize("text", ["a = ", 'mcp_servers = {a = {command="x"}}\n'])
def test_toml_that_cannot_take_a_table_is_refused(text: str) -> None:
    with pytest.raises(Uneditable):
        TOML.put(text, ("mcp_servers", "ovillo"), VALUE)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "GOOSE_MODEL: x\n",
        "extensions:\n  dev:\n    enabled: true\n    args:\n    - a\nother: 1\n",
        "# mine\nextensions:\n    a:\n        enabled: true\n\n# behind\n",
    ],
)
def test_an_entry_in_yaml_goes_in_and_out_without_a_trace(text: str) -> None:
    keys = ("extensions", "ovillo")
    after = YAML.put(text, keys, VALUE)
    before = yaml.safe_load(text) or {}
    assert yaml.safe_load(after) == {**before, "extensions": {**before.get("extensions", {}), "ovillo": VALUE}}
    assert YAML.find(after, keys) == VALUE
    assert YAML.take_out(after, keys) == text


@pytest.mark.parametrize("text", ["extensions: {a: 1}\n", "extensions:\n\ta: 1\n", "{extensions: 1}\n"])
def test_yaml_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(Uneditable):
        YAML.put(text, ("extensions", "ovillo"), VALUE)
