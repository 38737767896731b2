"""Lines of JSON from an offset: what is read, what waits, what is damage."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ovillo.model.limits import MAX_JSON_DEPTH
from ovillo.model.records import SkippedRecord
from ovillo.readers import jsonl
from ovillo.readers.jsonl import (
    EMPTY,
    UNFINISHED,
    FileState,
    JsonLines,
    decode_any,
    file_mark,
    has_passed,
    resume_offset,
    stat_regular,
)

READ, SKIPPED = list[tuple[int, int, Any]], list[SkippedRecord]


def read(path: Path, offset: int = 0) -> tuple[READ, SKIPPED, JsonLines[Any]]:
    lines = JsonLines(path, offset, decode_any)
    found: READ = []
    skipped: SKIPPED = []
    for line in lines:
        if isinstance(line, SkippedRecord):
            skipped.append(line)
        else:
            found.append(line)
    return found, skipped, lines


def values(path: Path) -> list[Any]:
    return [value for _, _, value in read(path)[0]]


def written(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(data)
    return path


def state_of(path: Path, offset: int) -> FileState:
    seen = stat_regular(path)
    assert seen is not None
    return FileState(seen.size, seen.mtime_ns, offset, file_mark(path, offset))


@pytest.mark.requirement("READ-40")
def test_lines_come_with_their_offset_and_length(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"a":1}\n\n{"b":"\xc3\xa9"}\n')
    assert read(path)[0] == [(0, 8, {"a": 1}), (9, 11, {"b": "é"})]
    assert read(path)[2].offset == 20


@pytest.mark.requirement("READ-40")
def test_reading_goes_on_from_an_offset(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"a":1}\n{"b":2}\n')
    assert read(path, 8)[0] == [(8, 8, {"b": 2})]


@pytest.mark.requirement("READ-41")
def test_a_half_written_last_line_waits_and_is_named_until_it_is_finished(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"a":1}\n{"b":"hal')
    found, [named], lines = read(path)
    assert ([x[2] for x in found], named.position, named.reason) == ([{"a": 1}], "8", UNFINISHED)
    assert (lines.offset, lines.has_tail, has_passed(named, path)) == (8, True, False)
    with path.open("ab") as file:
        file.write(b'f"}\n')
    assert has_passed(named, path)
    assert read(path, lines.offset)[0] == [(8, 13, {"b": "half"})]


@pytest.mark.requirement("READ-41")
def test_an_empty_file_is_named_until_something_is_in_it(tmp_path: Path) -> None:
    path = written(tmp_path, b"")
    found, [named], _ = read(path)
    assert (found, named.reason, has_passed(named, path)) == ([], EMPTY, False)
    path.write_bytes(b'{"a":1}\n')
    assert has_passed(named, path)


@pytest.mark.requirement("READ-41")
def test_a_last_line_nobody_finished_for_long_is_damage(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"a":1}\n{"b":"hal')
    os.utime(path, (1_700_000_000, 1_700_000_000))
    found, skipped, lines = read(path)
    assert ([x[2] for x in found], lines.offset, lines.is_done) == ([{"a": 1}], 8, True)
    assert [(x.position, x.reason) for x in skipped] == [("8", "the last line is cut off")]


@pytest.mark.requirement("READ-41")
def test_a_last_line_without_newline_that_is_whole_is_read_once(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"a":1}')
    found, _, lines = read(path)
    assert found == [(0, 7, {"a": 1})]
    with path.open("ab") as file:
        file.write(b'\n{"b":2}\n')
    assert [x[2] for x in read(path, lines.offset)[0]] == [{"b": 2}]


@pytest.mark.requirement("READ-42")
@pytest.mark.parametrize(
    "bad", [b"not json", b'{"a":', b'{"a":1}}', b"[" * 5_000 + b"]" * 5_000, b'{"a":' + b"[" * 300 + b"]" * 300 + b"}"]
)
def test_a_damaged_line_costs_itself_and_is_named_by_offset(tmp_path: Path, bad: bytes) -> None:
    path = written(tmp_path, b'{"a":1}\n' + bad + b'\n{"b":2}\n')
    found, skipped, _ = read(path)
    assert [x[2] for x in found] == [{"a": 1}, {"b": 2}]
    assert [(x.file, x.position) for x in skipped] == [(str(path), "8")]
    assert skipped[0].reason


@pytest.mark.requirement("READ-42")
def test_depth_up_to_the_limit_is_read(tmp_path: Path) -> None:
    depth = MAX_JSON_DEPTH - 1
    path = written(tmp_path, b'{"a":' + b"[" * depth + b"]" * depth + b"}\n")
    assert len(read(path)[0]) == 1


@pytest.mark.requirement("READ-42")
def test_an_oversized_line_is_passed_over_without_being_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MAX_RECORD_BYTES", 1_000)
    path = written(tmp_path, b'{"a":"' + b"x" * 5_000 + b'"}\n{"b":2}\n')
    found, skipped, _ = read(path)
    assert [x[2] for x in found] == [{"b": 2}]
    assert "5009 bytes" in skipped[0].reason


@pytest.mark.requirement("READ-42")
def test_many_damaged_lines_are_counted_not_listed(tmp_path: Path) -> None:
    path = written(tmp_path, b"oops\n" * 1_000 + b'{"b":2}\n')
    found, skipped, _ = read(path)
    assert len(found) == 1
    assert len(skipped) == 101
    assert skipped[-1].reason == "900 more lines could not be read"


@pytest.mark.requirement("READ-43")
@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'\xef\xbb\xbf{"a":"\xc3\xa9"}\n', "é"),
        ('{"a":"é漢"}\n'.encode("utf-16"), "é漢"),
        ('{"a":"é漢"}\n'.encode("utf-16-be"), "é漢"),
        (b'{"a":"\\ud83d cut"}\n', "? cut"),
        (b'{"a":"tab\there"}\n', "tab\there"),
        (b'\0\0\0\0{"a":"after a crash"}\n', "after a crash"),
    ],
)
def test_other_encodings_and_loose_json_are_read(tmp_path: Path, data: bytes, value: str) -> None:
    path = written(tmp_path, data)
    found, skipped, _ = read(path)
    assert [x[2] for x in found] == [{"a": value}]
    assert skipped == []


@pytest.mark.requirement("READ-43")
def test_invalid_utf8_is_replaced_and_noted(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"a":"x\xffy"}\n')
    found, skipped, _ = read(path)
    assert [x[2] for x in found] == [{"a": "x\ufffdy"}]
    assert "invalid UTF-8" in skipped[0].reason


@pytest.mark.requirement("READ-43")
def test_a_binary_file_is_one_damage(tmp_path: Path) -> None:
    path = written(tmp_path, b"\x7fELF\0\0\0" + bytes(range(256)) * 40)
    found, skipped, lines = read(path)
    assert (found, len(skipped), lines.offset) == ([], 1, path.stat().st_size)


@pytest.mark.requirement("READ-42")
def test_what_cannot_be_opened_is_damage(tmp_path: Path) -> None:
    assert [x.file for x in read(tmp_path / "gone.jsonl")[1]] == [str(tmp_path / "gone.jsonl")]
    assert read(tmp_path)[1][0].reason.startswith("cannot be read")


@pytest.mark.requirement("READ-44")
def test_an_appended_file_goes_on_and_a_rewritten_or_cut_one_starts_over(tmp_path: Path) -> None:
    lines = [json.dumps({"n": n}) + "\n" for n in range(100)]
    path = written(tmp_path, "".join(lines).encode())
    size = path.stat().st_size
    seen = FileState.of_entry(json.loads(json.dumps(state_of(path, size).entry())))
    with path.open("ab") as file:
        file.write(b'{"n":"new"}\n')
    assert resume_offset(path, seen, path.stat().st_size) == size
    path.write_bytes("".join(reversed(lines)).encode() + b"{}\n")
    assert resume_offset(path, seen, path.stat().st_size) == 0
    path.write_bytes(lines[0].encode())
    assert resume_offset(path, seen, path.stat().st_size) == 0


@pytest.mark.requirement("READ-44")
@pytest.mark.parametrize("entry", [None, {}, {"size": "x"}, [], {"size": 1, "mtime_ns": 2, "offset": None, "mark": ""}])
def test_a_strange_cursor_entry_means_start_over(tmp_path: Path, entry: object) -> None:
    path = written(tmp_path, b"{}\n")
    assert FileState.of_entry(entry) is None
    assert resume_offset(path, None, 3) == 0


@pytest.mark.requirement("READ-42")
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert stat_regular(tmp_path / "pipe.jsonl") is None
