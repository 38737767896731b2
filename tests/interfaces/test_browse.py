"""Browsing sessions on a full screen: the real command in a real pseudo-terminal, and what a person sees there."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ovillo.app import open_services
from tests.builders import delta, message
from tests.builders import session as built
from tests.interfaces.opened import record, settings_for
from tests.interfaces.screens import CTRL_C, CTRL_R, CTRL_U, DOWN, ENTER, ESCAPE, TAB, Screen, opened
from tests.interfaces.terminals import Machine
from tests.security.planting import HOSTILE

pytestmark = pytest.mark.skipif(os.name == "nt", reason="looked at through a terminal of Unix")

DAY = 86_400_000
NOW = 1_795_262_400_000


def keep(machine: Machine, session_id: str, *said: str, at: int = NOW, **fields: Any) -> None:
    services = open_services(settings_for(machine.home, data_dir=machine.data_dir))
    about = built(session_id, **{"created_at": at, "updated_at": at, "source": "claude_code", **fields})
    messages = [message(f"{session_id}-m{n}", n, text, of=session_id) for n, text in enumerate(said, 1)]
    record(services, delta(*messages, about=about))
    services.close()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Three sessions of two clients, one in a repository on a branch."""
    home = tmp_path / "home"
    work = home / "shop"
    git = work / ".git"
    (git / "objects").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/rounding\n")
    made = Machine(home, tmp_path / "data")
    keep(made, "ses-fees", *conversation(), title="Round the fees", directory=str(work), git_branch="rounding")
    keep(made, "ses-mail", "Send the newsletter at noon", title="Newsletter", directory=str(work), at=NOW - DAY)
    keep(
        made,
        "ses-ferry",
        "When does the ferry to Larne leave?",
        title="Ferries",
        directory=str(home / "trips"),
        source="codex",
        at=NOW - 2 * DAY,
    )
    return made


def conversation() -> list[str]:
    lines = [f"Filler number {n} about nothing at all.\nAnd its second line." for n in range(1, 41)]
    lines[24] = "\n".join(
        [*(f"line {n}" for n in range(30)), "Fees are rounded by bankers zigzag rounding.", "the end"]
    )
    return lines


@pytest.fixture
def screen(machine: Machine) -> Iterator[Screen]:
    with opened(machine, "browse") as screen:
        yield screen.sees("3 sessions")


def chosen(screen: Screen) -> list[str]:
    """The lines with the mark of the choice; while it moves there may be none, or two."""
    return [row for row in screen.rows if row.startswith("›")]


def lowest_chosen(screen: Screen) -> int:
    """The number in the title that is chosen; -1 while it is being painted."""
    numbers = (re.search(r"Number (\d{3})\b", row) for row in chosen(screen))
    return max((int(number[1]) for number in numbers if number), default=-1)


@pytest.mark.requirement("BROWSE-1")
def test_it_begins_with_the_newest_sessions_and_finds_while_one_types(screen: Screen) -> None:
    screen.sees("Round the fees", "Newsletter", "Ferries", "Enter read")
    titles = ["Round the fees", "Newsletter", "Ferries"]
    screen.until(
        lambda: all(title in row for title, row in zip(titles, screen.rows[2:5], strict=True)), "the newest first"
    )
    screen.press("f", "e", "r").sees("1 session", "Ferries", without=["Newsletter"])
    screen.press(CTRL_U).sees("3 sessions")


@pytest.mark.requirement("BROWSE-1")
def test_the_word_that_is_being_typed_is_a_beginning_and_a_finished_one_is_not(screen: Screen) -> None:
    screen.press("ne").sees("1 session", "Newsletter")
    screen.press(" ").sees("Nothing found")


@pytest.mark.requirement("BROWSE-2")
def test_the_preview_shows_the_place_that_was_found_in_the_middle_of_its_message(screen: Screen) -> None:
    screen.press("zigzag").sees("bankers zigzag rounding", "line 29", "the end").until(
        lambda: screen.marks("zigzag"), "a mark"
    )
    assert "Filler number 1 " not in screen.text


@pytest.mark.requirement("BROWSE-3")
def test_enter_reads_the_session_at_that_place_and_goes_on_from_there(screen: Screen) -> None:
    screen.press("zigzag").sees("1 session")
    screen.press(ENTER).sees("bankers zigzag rounding", "of 40").until(lambda: screen.marks("zigzag"), "a mark")
    screen.press("\x1b[6~").sees("Filler number 26")
    screen.press("\x1b[4~").sees("Filler number 40")
    screen.press("\x1b[1~").sees("Filler number 1 ", "message 1 of 40")
    screen.press("n").sees("bankers zigzag rounding")
    screen.press("u").sees("Filler number 26")
    screen.press("j").sees("message 27 of 40").press("k").sees("message 26 of 40")
    screen.press("e").sees("No further error")
    screen.press("q").sees("> zigzag", "1 session")


@pytest.mark.requirement("BROWSE-4")
def test_scopes_are_all_this_project_this_branch_and_this_client(machine: Machine) -> None:
    with opened(machine, "browse", folder=machine.home / "shop") as screen:
        screen.sees("3 sessions", "[all]", "project shop", "branch rounding")
        screen.press(CTRL_R).sees("[project shop]", "2 sessions", without=["Ferries"])
        screen.press(CTRL_R).sees("[branch rounding]", "1 session", "Round the fees", without=["Newsletter"])
        screen.press(CTRL_R).sees("[client claude_code]", "2 sessions")
        screen.press(CTRL_R).sees("[all]", "3 sessions")
        screen.press(ESCAPE).sees("q leave")
        screen.press("2").sees("[project shop]", "2 sessions")
        screen.press("1", "/", "larne").sees("1 session", "Ferries")
        screen.press(CTRL_R).sees("Nothing found", "project shop", "Ctrl-R looks elsewhere")


@pytest.mark.requirement("BROWSE-4")
def test_outside_of_a_project_its_scope_is_passed_over_with_a_word(machine: Machine) -> None:
    with opened(machine, "browse") as screen:
        screen.sees("3 sessions")
        screen.press(CTRL_R).sees("[client claude_code]", "2 sessions")


@pytest.mark.requirement("BROWSE-4")
def test_a_scope_to_begin_with_can_be_said(machine: Machine) -> None:
    with opened(machine, "browse", "--scope", "branch", folder=machine.home / "shop") as screen:
        screen.sees("[branch rounding]", "1 session", "Round the fees", without=["Newsletter"])
    with opened(machine, "browse", "--scope", "client", "--", "fees") as screen:
        screen.sees("[client claude_code]", "1 session")
    with opened(machine, "browse", "--scope", "project") as screen:
        screen.sees("[client claude_code]", "2 sessions", "This folder belongs to no project")


@pytest.mark.requirement("BROWSE-5")
def test_a_filter_is_chosen_from_a_list_and_stands_in_the_query(screen: Screen) -> None:
    screen.press(TAB, "f").sees("source:codex", "is:error")
    for _ in range(40):
        before = chosen(screen)
        if before and before[0].startswith("› source:codex"):
            break
        screen.press(DOWN).until(
            lambda before=before: len(chosen(screen)) == 1 and chosen(screen) != before, "another line"
        )
    screen.press(ENTER).sees("source:codex", "1 session", "Ferries", without=["Newsletter"])


@pytest.mark.requirement("BROWSE-5")
def test_filters_alone_list_every_session_that_passes_them(tmp_path: Path) -> None:
    made = Machine(tmp_path / "home", tmp_path / "data")
    made.home.mkdir()
    services = open_services(settings_for(made.home, data_dir=made.data_dir))
    deltas = []
    for n in range(30):
        about = built(f"ses-{n}", title=f"Number {n}", git_branch="dev" if n % 3 else "main")
        # So many texts that the newest of them are those of few sessions.
        deltas.append(delta(*(message(f"m{n}-{k}", k, "Count", of=f"ses-{n}") for k in range(40)), about=about))
    record(services, *deltas)
    services.close()
    with opened(made, "browse") as screen:
        screen.sees("30 sessions").press("branch:dev").sees("20 sessions", "newest first")


@pytest.mark.requirement("BROWSE-6")
def test_y_copies_the_whole_id_and_says_how(screen: Screen) -> None:
    screen.press(TAB, "y").sees("Copied ses-fees through the terminal (OSC 52)")
    assert b"\x1b]52;c;" + base64.b64encode(b"ses-fees") + b"\x07" in bytes(screen.raw)


@pytest.mark.requirement("BROWSE-6")
def test_y_copies_with_the_clipboard_of_a_desktop(machine: Machine, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "wl-copy").write_text(f"#!/bin/sh\ncat > {tmp_path}/copied\n")
    (programs / "wl-copy").chmod(0o755)
    changes = {"PATH": f"{programs}:{os.environ['PATH']}", "WAYLAND_DISPLAY": "wayland-0", "SSH_CONNECTION": None}
    with opened(machine, "browse", **changes) as screen:
        screen.sees("3 sessions").press(TAB, "y").sees("Copied ses-fees with wl-copy")
    assert (tmp_path / "copied").read_text() == "ses-fees"
    assert b"\x1b]52" not in bytes(screen.raw)


@pytest.mark.requirement("BROWSE-6")
def test_e_exports_into_the_folder_and_writes_over_nothing(machine: Machine, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with opened(machine, "browse", folder=out) as screen:
        screen.sees("3 sessions").press(TAB, "e").sees("Markdown, to read")
        screen.press(ENTER).sees("Wrote")
        written = [path.name for path in out.iterdir()]
        assert len(written) == 1
        assert "bankers zigzag rounding" in (out / written[0]).read_text()
        screen.press("e").sees("Markdown, to read").press(ENTER).sees("exists already")


@pytest.fixture
def clients(machine: Machine, tmp_path: Path) -> dict[str, str]:
    """Programs that stand for two clients: each tells what it was started with and where."""
    programs = tmp_path / "clients"
    programs.mkdir()
    for name in ("claude", "codex"):
        told = f"import json, os, sys\nprint('STARTED', json.dumps([{name!r}, sys.argv[1:], os.getcwd()]))\n"
        (programs / name).write_text(f"#!{sys.executable}\n{told}")
        (programs / name).chmod(0o755)
    return {"PATH": str(programs)}


@pytest.mark.requirement("BROWSE-7")
def test_r_starts_the_sessions_own_client_on_a_terminal_given_back(machine: Machine, clients: dict[str, str]) -> None:
    with opened(machine, "browse", "fees", columns=200, **clients) as screen:
        told = json.dumps(["claude", ["--resume", "ses-fees"], str(machine.home / "shop")])
        screen.sees("1 session").press("\x1br").sees("STARTED", told)
        assert screen.ends() == 0
    # Pasted text is no longer told apart for whoever comes next.
    assert bytes(screen.raw).rfind(b"\x1b[?2004l") > bytes(screen.raw).rfind(b"\x1b[?2004h")


@pytest.mark.requirement("BROWSE-7")
def test_h_hands_the_session_to_the_client_that_is_chosen(machine: Machine, clients: dict[str, str]) -> None:
    with opened(machine, "browse", columns=200, lines=60, **clients) as screen:
        screen.sees("3 sessions").press(TAB, "h").sees("Who goes on", "claude_code", "codex")
        screen.press(DOWN).sees("› codex").press(ENTER).sees(
            "STARTED", "Go on with the work of this earlier session", '["codex"'
        )
        assert screen.ends() == 0


@pytest.mark.requirement("BROWSE-7")
def test_what_cannot_be_resumed_is_said_with_what_works_and_nothing_is_left(machine: Machine) -> None:
    with opened(machine, "browse", columns=200, PATH="/nowhere") as screen:
        screen.sees("3 sessions").press("\x1br").sees("There is no program claude on the PATH")
        screen.press("newsl").sees("1 session")


@pytest.mark.requirement("BROWSE-7")
def test_the_command_is_printed_for_a_shell_that_asks_for_it(machine: Machine, clients: dict[str, str]) -> None:
    reads, writes = os.pipe()
    with opened(machine, "browse", "--print", stdout=writes, **clients) as screen:
        os.close(writes)
        screen.sees("3 sessions").press("\x1br")
        assert screen.ends() == 0
    with os.fdopen(reads) as printed:
        assert printed.read() == f"cd {machine.home}/shop && claude --resume ses-fees\n"


@pytest.mark.requirement("BROWSE-8")
def test_question_mark_shows_the_keys(screen: Screen) -> None:
    screen.press("?").sees("search as you type", "Ctrl-R")
    screen.press(ESCAPE).sees("3 sessions")
    screen.press("\x1bOP").sees("search as you type")


@pytest.mark.requirement("BROWSE-8")
def test_it_is_left_with_ctrl_c_escape_and_q(machine: Machine) -> None:
    with opened(machine, "browse") as screen:
        screen.sees("3 sessions").press(CTRL_C)
        assert screen.ends() == 0
    for key in ("q", ESCAPE):
        with opened(machine, "browse") as screen:
            screen.sees("3 sessions").press(ESCAPE).sees("q leave").press(key)
            assert screen.ends() == 0


@pytest.mark.requirement("BROWSE-8")
@pytest.mark.parametrize("ignores_hangup", [False, True])
def test_it_ends_with_its_window(machine: Machine, ignores_hangup: bool) -> None:
    with opened(machine, "browse", ignores_hangup=ignores_hangup) as screen:
        screen.sees("3 sessions").close()
        assert screen.process.wait(30) in (0, 128 + signal.SIGHUP)


@pytest.mark.requirement("BROWSE-8")
def test_whoever_ends_it_gets_the_terminal_back(machine: Machine) -> None:
    with opened(machine, "browse", TERM="xterm-256color") as screen:
        screen.sees("Enter read").process.terminate()
        assert screen.ends() == 128 + signal.SIGTERM
    sent = bytes(screen.raw)
    assert sent.rfind(b"\x1b[?1049l") > sent.rfind(b"\x1b[?1049h") >= 0
    assert sent.rfind(b"\x1b[?2004l") > sent.rfind(b"\x1b[?2004h") >= 0


#: The end is asked for right where the screen has taken the lock of its errands.
_ENDED_WITH_A_LOCK = """
import os, signal, threading
from types import SimpleNamespace
from ovillo.interfaces.cli.browse import errands
from ovillo.app import main

asked = []

class Taken(threading.Condition):
    def __init__(self):
        super().__init__(threading.Lock())

    def __enter__(self):
        taken = super().__enter__()
        if threading.current_thread() is threading.main_thread() and not asked:
            asked.append(True)
            os.kill(os.getpid(), signal.SIGTERM)
        return taken

errands.threading = SimpleNamespace(Condition=Taken, Thread=threading.Thread)
main()
"""


@pytest.mark.requirement("BROWSE-8")
def test_it_ends_though_it_is_asked_to_in_the_moment_it_takes_a_lock(machine: Machine) -> None:
    with opened(machine, "browse", program=(sys.executable, "-c", _ENDED_WITH_A_LOCK)) as screen:
        assert screen.ends() == 128 + signal.SIGTERM


@pytest.mark.requirement("BROWSE-9")
@pytest.mark.parametrize(("lines", "columns"), [(24, 80), (10, 40), (5, 24), (2, 12), (60, 200)])
def test_it_works_in_a_terminal_of_any_size(machine: Machine, lines: int, columns: int) -> None:
    with opened(machine, "browse", lines=lines, columns=columns) as screen:
        screen.press("larne").until(lambda: "larne"[: columns - 8] in screen.rows[0], "what was typed")
        screen.press(ENTER).until(lambda: "ferr" in screen.text.lower(), "the session")
        assert all(len(row) <= columns for row in screen.rows)
        screen.press(CTRL_C)
        assert screen.ends() == 0


@pytest.mark.requirement("BROWSE-9")
def test_a_resized_terminal_is_drawn_anew_at_its_new_size(screen: Screen) -> None:
    screen.press("zigzag").sees("1 session")
    screen.resize(40, 120).sees("│", "bankers zigzag rounding")
    screen.resize(12, 40).sees("Round the fees", without=["│"])
    screen.press(ENTER).sees("bankers zigzag")
    screen.resize(24, 80).sees("bankers zigzag rounding", "the end")


@pytest.mark.requirement("BROWSE-9")
def test_without_colours_everything_is_told_apart_all_the_same(machine: Machine) -> None:
    with opened(machine, "browse", "zigzag", NO_COLOR="1") as screen:
        screen.sees("1 session", "bankers zigzag rounding").until(lambda: screen.marks("zigzag"), "a mark")
        screen.until(lambda: bool(chosen(screen)), "the choice")
        assert not screen.has_colours()
    with opened(machine, "browse", "zigzag") as screen:
        screen.sees("bankers zigzag rounding").until(screen.has_colours, "colours")


@pytest.mark.requirement("BROWSE-9")
@pytest.mark.parametrize("locale", ["C.UTF-8", "C", "en_US.ISO-8859-1"])
def test_no_locale_ends_it(machine: Machine, locale: str) -> None:
    keep(machine, "ses-wide", "復元 zwölf 👩\u200d👩\u200d👧 needle", title="日本語", at=NOW + DAY)
    with opened(machine, "browse", "needle", LANG=locale, LC_ALL=locale) as screen:
        screen.sees("1 session", "needle").press(ENTER).sees("message 1 of 1", "needle").press(CTRL_C)
        assert screen.ends() == 0
        if locale == "C.UTF-8":
            assert "👩" in screen.raw.decode(errors="replace")
            assert "\ufffd".encode() not in bytes(screen.raw)


@pytest.mark.requirement("BROWSE-9")
def test_where_output_is_no_terminal_it_says_so(machine: Machine) -> None:
    ran = machine.pipe("browse")
    assert ran.returncode == 2
    assert b"Standard output is no terminal" in ran.stderr
    assert b"ovillo search" in ran.stderr
    assert machine.type("browse", TERM="dumb").code == 2
    detached = subprocess.run(
        [sys.executable, "-m", "ovillo", "browse", "--print"],
        env=machine.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        start_new_session=True,
        check=False,
    )
    assert detached.returncode == 2
    assert b"no terminal to browse on" in detached.stderr


@pytest.mark.requirement("BROWSE-9")
def test_a_terminal_that_nobody_described_is_drawn_on_like_any_of_today(machine: Machine) -> None:
    with opened(machine, "browse", TERM="of-tomorrow") as screen:
        screen.until(lambda: b"3 sessions" in bytes(screen.raw), "the list").press(CTRL_C)
        assert screen.ends() == 0


@pytest.mark.requirement("BROWSE-10")
def test_where_nothing_was_read_it_says_what_to_type(tmp_path: Path) -> None:
    with opened(Machine(tmp_path, tmp_path / "data"), "browse") as screen:
        screen.sees("No session was read yet", "ovillo scan", "0 sessions")
        screen.press("anything").sees("Nothing found")
        screen.press(CTRL_C)
        assert screen.ends() == 0


@pytest.mark.requirement("BROWSE-10")
def test_what_is_recorded_meanwhile_appears_and_leaves_the_choice_where_it_is(machine: Machine, screen: Screen) -> None:
    screen.press(DOWN).until(lambda: any("Newsletter" in row for row in chosen(screen)), "the choice")
    screen.sees("Send the newsletter at noon")
    keep(machine, "ses-new", "Something else entirely", title="Came meanwhile", at=NOW + DAY)
    screen.sees("4 sessions", "Came meanwhile").until(
        lambda: any("Newsletter" in row for row in chosen(screen)), "the choice where it was"
    )


@pytest.mark.requirement("BROWSE-11")
def test_recorded_text_cannot_command_the_terminal(machine: Machine) -> None:
    keep(
        machine, "ses-hostile", f"zqxplanted {HOSTILE}", title=f"zqxplanted {HOSTILE}", at=NOW + DAY, git_branch=HOSTILE
    )
    with opened(machine, "browse", lines=40, columns=120) as screen:
        screen.sees("4 sessions").press("zqxplanted").sees("1 session")
        screen.press(ENTER).sees("message 1 of 1").press("q", TAB, "n", "f").sees("Only")
        screen.press("q").sees("zqxplanted").press("q")
        assert screen.ends() == 0
    sent = bytes(screen.raw)
    assert b"\x1b]52" not in sent  # the clipboard
    assert b"\x1b]0" not in sent  # the title
    assert b"\x1b[38;5;199m" not in sent
    assert b"\xe2\x80\xae" not in sent  # right to left


@pytest.mark.requirement("BROWSE-11")
def test_a_paste_is_text_and_presses_no_key(screen: Screen) -> None:
    screen.press("\x1b[200~ferry\r\n\x1b[31mto\x1b[201~").sees("> ferry to", "1 session", "Ferries")


@pytest.mark.requirement("BROWSE-12")
def test_a_query_that_is_not_understood_is_said_and_the_next_letter_mends_it(screen: Screen) -> None:
    screen.press("type:nothing").sees("type:nothing", "is not known")
    screen.press(CTRL_U, "larne").sees("1 session", "Ferries")


@pytest.mark.requirement("BROWSE-12")
def test_more_sessions_come_while_one_moves_down(tmp_path: Path) -> None:
    made = Machine(tmp_path / "home", tmp_path / "data")
    made.home.mkdir()
    services = open_services(settings_for(made.home, data_dir=made.data_dir))
    deltas = []
    for n in range(200):
        about = built(f"ses-{n:03}", title=f"Number {n:03}", created_at=NOW - n, updated_at=NOW - n)
        deltas.append(delta(message(f"m{n}", 1, "Count", of=f"ses-{n:03}"), about=about))
    record(services, *deltas)
    services.close()
    with opened(made, "browse") as screen:
        screen.sees("200 sessions", "Number 000").press(ESCAPE)
        seen = 0
        while seen < 199:
            before = seen
            screen.press("\x1b[6~").until(
                lambda before=before: lowest_chosen(screen) > before, f"what stands below {before}"
            )
            seen = lowest_chosen(screen)
        screen.sees("Number 199")
