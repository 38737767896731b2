"""Files as they come: encodings, damage, and what is better left alone."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ovillo.code.languages import all_languages, language_named, language_of
from ovillo.code.parsing import MAX_FILE_BYTES, is_test_path, parse_file
from ovillo.model.code import CodeFile


def parse(name: str, data: bytes) -> CodeFile:
    language = language_of(name)
    assert language is not None
    return parse_file(name, data, language)


@pytest.mark.requirement("CODE-4")
@pytest.mark.parametrize(
    "data",
    [
        "def niño(): pass\n".encode(),
        b"\xef\xbb\xbf" + "def niño(): pass\n".encode(),
        b"# -*- coding: latin-1 -*-\n" + "def niño(): pass\n".encode("latin-1"),
        "def niño(): pass\n".encode("utf-16"),
        "def niño(): pass\n".encode("cp1252"),
        "def niño(): pass\r\n".encode(),
    ],
)
def test_names_are_read_in_whatever_encoding_the_file_is_in(data: bytes) -> None:
    assert [s.name for s in parse("a.py", data).symbols] == ["niño"]


@pytest.mark.requirement("CODE-4")
def test_an_encoding_nobody_knows_does_not_matter() -> None:
    assert [s.name for s in parse("a.py", b"# coding: no-such\ndef f(): pass\n").symbols] == ["f"]
    assert [s.name for s in parse("a.py", b"# coding: hex\ndef f(): pass\n").symbols] == ["f"]


@pytest.mark.requirement("CODE-4")
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x00\x01\x02var x", "binary"),
        (b"var a=1;" * 10_000, "minified"),
        (b"x" * (MAX_FILE_BYTES + 1), "larger"),
    ],
)
def test_what_is_no_source_is_skipped_with_the_reason(data: bytes, reason: str) -> None:
    file = parse("a.js", data)
    assert file.skipped is not None
    assert reason in file.skipped
    assert file.symbols == ()


@pytest.mark.requirement("CODE-4")
def test_broken_syntax_costs_what_is_broken_and_is_said() -> None:
    source = b"def before(): pass\n\n<<<<<<< HEAD\ndef mine(: pass\n=======\n>>>>>>> x\n\ndef after():\n    return 1\n"
    file = parse("a.py", source)
    assert {"before", "after"} <= {s.name for s in file.symbols}
    assert file.error is not None


@pytest.mark.requirement("CODE-3")
def test_comments_after_the_last_statement_are_no_part_of_a_definition() -> None:
    file = parse("a.py", b"def f():\n    if x:\n        g()\n        # tail\n\n    # more\n\n\ndef h(): pass\n")
    assert [(s.start_line, s.end_line) for s in file.symbols] == [(1, 3), (9, 9)]


@pytest.mark.requirement("CODE-4")
def test_code_nested_without_end_is_read_without_a_crash() -> None:
    file = parse("a.js", b"f(\n" * 30_000 + b")\n" * 30_000)
    assert file.skipped is None
    assert file.calls


@pytest.mark.requirement("CODE-5")
def test_code_cells_of_a_notebook_are_one_file_and_magics_keep_their_lines() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "import os\n", "def load():\n", "    return os"]},
        {"cell_type": "code", "source": "!ls\nload()"},
    ]
    file = parse("a.ipynb", json.dumps({"cells": cells}).encode())
    assert [(s.name, s.start_line, s.end_line) for s in file.symbols] == [("load", 3, 4)]
    assert [(call.name, call.line) for call in file.calls] == [("load", 6)]
    assert file.error is None
    assert parse("b.ipynb", b"{").skipped == "not a notebook"


@pytest.mark.requirement("CODE-4")
def test_places_of_tests_are_known_by_their_path() -> None:
    tests = ["tests/a.py", "test_a.py", "pkg/a_test.go", "a.spec.ts", "src/test/java/A.java", "ATest.java", "x_spec.rb"]
    assert [path for path in tests if not is_test_path(path)] == []
    assert [path for path in ("contest.py", "a.py", "latest.ts", "src/attest.go") if is_test_path(path)] == []


@pytest.mark.requirement("CODE-4")
@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([x.name for x in all_languages()]), st.binary(max_size=400) | st.text(max_size=400).map(str.encode)
)
def test_no_bytes_make_it_raise(language: str, data: bytes) -> None:
    assert parse_file("a.x", data, language_named(language)).size == len(data)
