"""Secrets in what tools, terminals and pages make of a text."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovillo.security.plain_forms import Form
from ovillo.security.redaction import Redactor

PASSWORD = "Gato" + "#2024x"
TOKEN = "gh" + "p_" + "9fKq2LmZ7xWc4VbN1tRs8YpHd3GjQe6AuXo0"
#: What a tool shows: name and value stand on two lines.
ENTRY = f"- name: DB_PASSWORD\n  value: {PASSWORD}\n"


def mask(text: str) -> str:
    return Redactor(b"k" * 32).redact(text)[0]


@pytest.mark.requirement("SEC-62")
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_a_password_is_found_in_json_inside_json(levels: int) -> None:
    text = json.dumps({"user": "bob", "admin_password": PASSWORD})
    for _ in range(levels):
        text = json.dumps({"body": text})
    clean = mask(text)
    assert PASSWORD not in clean
    for _ in range(levels):
        clean = json.loads(clean)["body"]
    assert json.loads(clean)["user"] == "bob"


@pytest.mark.requirement("SEC-62")
@pytest.mark.parametrize("line", ["{:6d}\t{}", "{:5d}→{}", "app.yaml:{}:{}", "web-1  | {1}", "> {1}", "+{1}", "-{1}"])
def test_what_stands_before_lines_parts_no_name_from_its_value(line: str) -> None:
    shown = "\n".join(line.format(number, text) for number, text in enumerate(ENTRY.splitlines(), 7))
    clean = mask(shown)
    assert PASSWORD not in clean
    assert len(clean.splitlines()) == len(shown.splitlines())


@pytest.mark.requirement("SEC-62")
def test_entities_of_a_page_part_no_word_from_its_secret() -> None:
    assert PASSWORD not in mask(f"&quot;password&quot;: &quot;{PASSWORD}&quot;")
    assert mask("&quot;name&quot;: &quot;bob&quot;").count("&quot;") == 4


@pytest.mark.requirement("SEC-62")
@pytest.mark.parametrize("hidden", ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202a"])
def test_a_token_with_invisible_characters_in_it_is_masked_whole(hidden: str) -> None:
    clean = mask(f"use {TOKEN[:9]}{hidden}{TOKEN[9:20]}{hidden}{TOKEN[20:]} for it")
    assert clean.startswith("use [redacted:github_token:")
    assert clean.endswith("] for it")


@pytest.mark.requirement("SEC-62")
def test_a_token_that_a_terminal_broke_into_two_lines_is_masked_whole() -> None:
    before = "$ curl -s -H 'X-Request: 12' --retry 3 -H 'Private-Token: "
    secret = TOKEN[4:] + "kT5"
    row = (before + secret)[:80] + "\n" + (before + secret)[80:] + "' https://example.com"
    clean = mask(row)
    assert secret[:10] not in clean
    assert secret[-10:] not in clean
    assert clean.endswith("' https://example.com")


@pytest.mark.requirement("SEC-62")
def test_two_words_that_a_paragraph_parts_are_not_one() -> None:
    text = "the longer option of it all, which is to pass --enable-interface=gtk3\nexplicitly, does it"
    assert mask(text) is text


@given(st.lists(st.sampled_from([*"abc", "\\n", "\\\\n", '\\"', "\\u00e9", "é"]), min_size=1, max_size=30))
def test_each_place_of_a_form_leads_back_to_what_it_was_made_from(pieces: list[str]) -> None:
    data = "".join(pieces).encode()
    escaped = re.compile(rb"\\\\+n|\\\\\"|\\\\u[0-9a-f]{4}")
    form = Form(data, escaped, lambda match: b"X" if b"n" in match[0] else b"")
    places = [form.span(at, at + 1) for at in range(len(form.data))]
    for (start, end), byte in zip(places, form.data, strict=True):
        assert data[start:end] == bytes([byte]) or escaped.fullmatch(data[start:end])
    assert all(end <= start for (_, end), (start, _) in pairwise(places))
