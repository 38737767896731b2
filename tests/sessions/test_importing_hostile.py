"""Hostile imports: each gets an error that says where, and changes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ovillo.interfaces.services import Services
from ovillo.model.errors import InvalidInput, LimitExceeded, OvilloError
from ovillo.model.sessions import SessionFilter
from ovillo.sessions.transfer import documents
from tests.sessions.transferring import NS, empty, exported, imported, minimal, said, shared, told

__all__ = ["empty", "shared"]

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
    before = empty.store.changes.last(NS)
    with pytest.raises(InvalidInput) as caught:
        imported(empty, data)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 600
    assert empty.store.changes.last(NS) == before
    assert empty.store.sessions.count(NS, SessionFilter()) == 0


@pytest.mark.requirement("TRANSFER-10")
def test_64_mib_are_looked_at_and_one_byte_more_is_not(empty: Services) -> None:
    head, tail = b'{"version":"1.0","session":{"messages":[{"role":"user","content":7,"x":"', b'"}]}}'
    room = documents.MAX_IMPORT_BYTES - len(head) - len(tail)
    with pytest.raises(InvalidInput, match=r"messages\[0\]\.content"):
        imported(empty, head + b"," * room + tail)
    with pytest.raises(LimitExceeded, match=r"67,108,865 bytes.*67,108,864"):
        imported(empty, head + b"," * (room + 1) + tail)
    assert empty.store.sessions.count(NS, SessionFilter()) == 0


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
    assert empty.store.sessions.count(NS, SessionFilter()) == 0


@pytest.mark.requirement("TRANSFER-10")
def test_text_that_is_mostly_commas_is_no_bomb(empty: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_VALUES", 1_000)
    made = imported(empty, minimal(said("user", ",[{" * 2_000)))
    lines = "\n".join(json.dumps(said("user", f"{n}" + ",[{" * 2_000)) for n in range(3))
    assert (made.messages, imported(empty, lines).messages) == (1, 3)


@pytest.mark.requirement("TRANSFER-10")
def test_an_export_too_large_to_come_back_says_so(empty: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    row = imported(empty, minimal(ONE)).row
    monkeypatch.setattr(documents, "MAX_IMPORT_BYTES", 100)
    made = empty.transfer.export(NS, row.session.id, "json")
    assert b"".join(made.chunks)
    assert "cannot be imported again" in made.notes[0]


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
_FIELDS = (*_NAMES, "role", "content", "id", "timestamp", "toolCalls", "parts", "record", "usage")
_PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
_ANY: st.SearchStrategy[Any] = st.deferred(
    lambda: _PLAIN | st.lists(_ANY, max_size=3) | st.dictionaries(st.sampled_from(_FIELDS), _ANY, max_size=4)
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
        before = shared.store.changes.last(NS)
        try:
            row = imported(shared, json.dumps(shape)).row
        except OvilloError:
            assert shared.store.changes.last(NS) == before
        else:
            assert exported(shared, row.session.id)
