"""Codex: whose a count of tokens is, in every order versions write it, and lines that stand twice."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.readers.harvest import Found, harvest, harvest_home
from tests.readers.rollouts import (
    READER,
    SID,
    Line,
    call,
    home,
    line,
    meta,
    output,
    prompt,
    read,
    said,
    tokens,
)

# --- figures after their outputs, as 0.140 to 0.142 write them


def inputs(session: Found) -> list[int | None]:
    return [answer.usage.input if answer.usage else None for answer in session.answers]


def started() -> Line:
    return line("event_msg", type="task_started")


@pytest.mark.requirement("READ-150")
def test_a_total_written_after_calls_and_their_outputs_belongs_to_the_answer_that_called(tmp_path: Path) -> None:
    session, _ = read(
        tmp_path, meta(), started(), prompt("a"), said("first"), call("c1"), call("c2"), output("x", "c1"),
        output("y", "c2"), tokens(10, 10), call("c3"), output("z", "c3"), tokens(30, 20), said("done"), tokens(35, 5),
        started(), prompt("b"), tokens(35, 5), call("c4"), output("x", "c4"), tokens(42, 7), said("two"), tokens(51, 9),
    )  # fmt: skip
    assert inputs(session) == [10, 20, 5, 7, 9]


@pytest.mark.requirement("READ-150")
def test_each_turn_says_by_itself_whether_totals_come_before_or_after_their_answers(tmp_path: Path) -> None:
    older = (prompt("a"), tokens(10, 10), call("c1"), output("x", "c1"), tokens(30, 20), said("one"))
    newer = (prompt("b"), call("c2"), output("x", "c2"), tokens(4, 4), said("two"), tokens(9, 5))
    session, _ = read(tmp_path, meta(), *older, *newer)
    assert inputs(session) == [10, 20, 4, 5]
    session, _ = read(tmp_path, meta(), *newer, *older)
    assert inputs(session) == [4, 5, 10, 20]


@pytest.mark.requirement("READ-150")
def test_the_tokens_of_a_compaction_are_its_own_in_both_orders(tmp_path: Path) -> None:
    compacted = line("compacted", message="summary", replacement_history=[])
    session, _ = read(
        tmp_path, meta(), started(), prompt("a"), call("c1"), output("x", "c1"), tokens(10, 10), tokens(17, 7), compacted,
        tokens(17, 3), call("c2"), output("y", "c2"), tokens(37, 20), said("done"), tokens(42, 5),
    )  # fmt: skip
    assert inputs(session) == [10, 20, 5]
    (summary,) = [m for m in session.messages if m.is_summary]
    assert summary.usage is not None
    assert (summary.usage.input, session.usage.input) == (7, 42)
    session, _ = read(
        tmp_path, meta(), prompt("a"), tokens(10, 10), call("c1"), output("x", "c1"), tokens(17, 7), compacted,
        tokens(17, 3), tokens(37, 20), said("done"),
    )  # fmt: skip
    assert (inputs(session), session.usage.input) == ([10, 20], 37)


@pytest.mark.requirement("READ-150")
def test_an_interrupted_answer_does_not_take_the_figures_of_the_next(tmp_path: Path) -> None:
    session, _ = read(
        tmp_path, meta(), started(), prompt("a"), call("c1"), line("event_msg", type="turn_aborted"), started(),
        prompt("b"), call("c2"), output("x", "c2"), tokens(10, 10), said("two"), tokens(15, 5),
    )  # fmt: skip
    assert inputs(session) == [None, 10, 5]


@pytest.mark.requirement("READ-150")
def test_a_prompt_sent_while_tools_run_does_not_shift_the_figures(tmp_path: Path) -> None:
    session, _ = read(
        tmp_path, meta(), started(), prompt("a"), call("c1"), prompt("and faster"), output("x", "c1"), tokens(10, 10),
        said("done"), tokens(15, 5),
    )  # fmt: skip
    assert inputs(session) == [10, 5]


@pytest.mark.requirement("READ-150")
def test_figures_after_outputs_are_found_wherever_the_file_was_cut(tmp_path: Path) -> None:
    lines = [
        meta(), started(), prompt("a"), call("c1"), output("x", "c1"), tokens(10, 10), tokens(17, 7),
        line("compacted", message="s", replacement_history=[]), call("c2"), output("y", "c2"), tokens(37, 20),
        said("done"), tokens(42, 5), started(), prompt("b"), said("two"), tokens(45, 3),
    ]  # fmt: skip
    whole, _ = read(tmp_path, *lines)
    for end in range(1, len(lines)):
        place = home(tmp_path, *lines[:end])
        found = harvest(READER, place)
        home(tmp_path, *lines)
        for record in READER.scan(place, json.loads(json.dumps(found.cursor))):
            found.take(record)
        assert found.sessions[SID] == whole, f"cut at line {end}"


# --- lines that stand twice


def later(*lines: Line) -> list[Line]:
    """The same lines a second apart, as a client writes them."""
    return [{**x, "timestamp": f"2026-11-21T04:00:{n:02}.000Z"} for n, x in enumerate(lines)]


TWICE = later(
    meta(), prompt("a"), said("one"), tokens(10, 10), prompt("a"), said("one"), tokens(30, 20),
    line("compacted", message="s", replacement_history=[]), prompt("c"), said("three"), tokens(35, 5),
)  # fmt: skip


@pytest.mark.requirement("READ-151")
@pytest.mark.parametrize("first", [0, 1, 4, 9], ids=["whole", "without its head", "its half", "its end"])
def test_lines_that_stand_twice_in_a_rollout_count_once(tmp_path: Path, first: int) -> None:
    once, _ = read(tmp_path, *TWICE)
    again = [*TWICE, *TWICE[first:], *later(*TWICE[-3:], *[prompt("d"), said("four")])[-2:]]
    again[-2]["timestamp"], again[-1]["timestamp"] = "2026-11-21T05:00:00.000Z", "2026-11-21T05:00:01.000Z"
    twice, _ = read(tmp_path, *again)
    assert (twice.prompts, twice.usage) == ([*once.prompts, "d"], once.usage)
    assert [m.id for m in twice.messages][: len(once.messages)] == [m.id for m in once.messages]


@pytest.mark.requirement("READ-151")
def test_lines_copied_behind_themselves_between_two_scans_count_once(tmp_path: Path) -> None:
    once, _ = read(tmp_path, *TWICE)
    found = harvest(READER, home(tmp_path, *TWICE))
    place = home(tmp_path, *TWICE, *TWICE[3:])
    for record in READER.scan(place, json.loads(json.dumps(found.cursor))):
        found.take(record)
    assert found.sessions[SID] == once


@pytest.mark.requirement("READ-151")
def test_real_rollouts_of_two_versions_appended_to_themselves_are_what_they_were(
    fixtures: Path, tmp_path: Path
) -> None:
    for version in ("codex", "codex/older-version"):
        known = harvest_home(READER, fixtures / version / "home")
        shutil.copytree(fixtures / version / "home", tmp_path / version)
        for path in (tmp_path / version).rglob("rollout-*.jsonl"):
            path.write_bytes(path.read_bytes() * 2)
        assert harvest_home(READER, tmp_path / version).sessions == known.sessions


@pytest.mark.requirement("READ-150")
def test_a_total_without_its_last_answer_counts_by_what_it_grew(tmp_path: Path) -> None:
    counts = [tokens(10, 10), tokens(30, 20), tokens(7, 7)]
    for count in counts[1:]:
        del count["payload"]["info"]["last_token_usage"]
    session, _ = read(
        tmp_path, meta(), started(), prompt("a"), call(), output("x"), counts[0], said("one"), counts[1], started(),
        prompt("b"), said("two"), counts[2],
    )  # fmt: skip
    assert inputs(session) == [10, 20, 7]
