"""What `ovillo init` prints, run by real shells in a real terminal: completion, and the key that browses."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ovillo.app import open_services
from tests.builders import delta, message
from tests.builders import session as built
from tests.interfaces.cli_runs import CommandLine
from tests.interfaces.opened import record, settings_for
from tests.interfaces.screens import CTRL_C, DOWN, ENTER, TAB, Screen, opened
from tests.interfaces.terminals import Machine

pytestmark = pytest.mark.skipif(os.name == "nt", reason="shells of Unix")

CTRL_G = "\x07"


@dataclass(frozen=True)
class Shell:
    """``start``: what begins it interactively; ``file`` what it reads then, below the home folder, with ``line`` in it."""

    start: tuple[str, ...]
    file: str
    line: str
    #: Before ``line``.
    first: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)


SHELLS = {
    "bash": Shell(("bash", "-i"), ".bashrc", 'eval "$(ovillo init bash)"', "PS1='ready: '\n"),
    "zsh": Shell(
        ("zsh", "-i"), ".zshrc", 'eval "$(ovillo init zsh)"', "PROMPT='ready: '\nautoload -Uz compinit; compinit -u\n"
    ),
    "fish": Shell(
        ("fish", "-i"),
        ".config/fish/config.fish",
        "ovillo init fish | source",
        "function fish_prompt; echo -n 'ready: '; end\nset fish_greeting\nset -g fish_features no-query-term\n",
    ),
}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """With ``ovillo`` and two clients on the PATH, and a session in a folder whose name needs quotes."""
    home, programs = tmp_path / "home", tmp_path / "bin"
    (home / "my shop").mkdir(parents=True)
    programs.mkdir()
    (programs / "ovillo").write_text(f'#!/bin/sh\nexec {sys.executable} -m ovillo "$@"\n')
    for name in ("claude", "codex"):
        (programs / name).write_text(f'#!/bin/sh\necho "STARTED {name} $* in $(pwd)"\n')
    for program in programs.iterdir():
        program.chmod(0o755)
    made = Machine(home, tmp_path / "data")
    services = open_services(settings_for(home, data_dir=made.data_dir))
    about = built("ses-fees", title="Round the fees", source="claude_code", directory=str(home / "my shop"))
    record(services, delta(message("m1", 1, "Please round the fees", of="ses-fees"), about=about))
    services.close()
    return made


@contextmanager
def typing_into(machine: Machine, name: str, *more: str) -> Iterator[Screen]:
    shell = SHELLS[name]
    if shutil.which(shell.start[0]) is None:
        pytest.skip(f"there is no {name} here")
    file = machine.home / shell.file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{shell.first}{shell.line}\n" + "".join(f"{line}\n" for line in more))
    path = f"{machine.home.parent / 'bin'}:{os.environ['PATH']}"
    with opened(machine, *shell.start[1:], program=shell.start[:1], columns=180, PATH=path, HISTFILE="") as screen:
        yield screen.sees("ready:")


@pytest.mark.requirement("BROWSE-13")
@pytest.mark.parametrize("name", SHELLS)
def test_the_key_browses_with_what_is_typed_and_puts_the_command_on_the_line(machine: Machine, name: str) -> None:
    with typing_into(machine, name) as screen:
        screen.press("fees").sees("ready: fees").press(CTRL_G).sees("> fees", "1 session", "Round the fees")
        screen.press("\x1br").sees("claude --resume ses-fees", without=["1 session"])
        # It stands there, and is run by whoever agrees.
        assert "STARTED" not in screen.text
        screen.press(ENTER).sees(f"STARTED claude --resume ses-fees in {machine.home}/my shop")


@pytest.mark.requirement("BROWSE-13")
@pytest.mark.parametrize("name", SHELLS)
def test_what_is_typed_stays_where_nothing_is_chosen(machine: Machine, name: str) -> None:
    with typing_into(machine, name) as screen:
        screen.press("echo kept").sees("ready: echo kept").press(CTRL_G).sees("> echo kept")
        screen.press(CTRL_C).sees("ready: echo kept", without=["> echo kept"])
        screen.press(" as it is").sees("echo kept as it is").press(ENTER).until(
            lambda: any(row == "kept as it is" for row in screen.rows), "what was echoed"
        )


@pytest.mark.requirement("BROWSE-13")
def test_handing_off_puts_the_short_command_on_the_line(machine: Machine) -> None:
    with typing_into(machine, "bash") as screen:
        screen.press(CTRL_G).sees("1 session", "Round the fees").press(TAB, "h").sees("Who goes on")
        screen.press(DOWN).sees("› codex").press(ENTER).sees("ovillo handoff ses-fees --to codex", without=["Who goes"])


@pytest.mark.requirement("BROWSE-14")
@pytest.mark.parametrize("name", SHELLS)
def test_tab_completes_commands_and_options(machine: Machine, name: str) -> None:
    with typing_into(machine, name) as screen:
        screen.press("ovillo brow" + TAB).sees("ovillo browse")
        screen.press(" --sc" + TAB).sees("--scope")


@pytest.mark.requirement("BROWSE-14")
def test_powershell_is_answered_as_its_script_asks(machine: Machine) -> None:
    def asked(line: str, word: str) -> list[str]:
        environment = machine.environment(_OVILLO_COMPLETE="powershell_complete", COMP_WORDS=line, COMP_CWORD=word)
        done = subprocess.run(
            [sys.executable, "-c", "import sys; sys.argv[0] = 'ovillo'; from ovillo.app import main; main()"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return [row.partition("\t")[0] for row in done.stdout.splitlines()]

    assert asked("ovillo brow", "brow") == ["plain,browse"]
    assert asked("ovillo browse --scope ", "") == ["plain,all", "plain,project", "plain,branch", "plain,client"]


@pytest.mark.requirement("BROWSE-14")
@pytest.mark.skipif(shutil.which("pwsh") is None, reason="there is no PowerShell here")
def test_powershell_understands_its_script(machine: Machine) -> None:
    script = machine.pipe("init", "powershell").stdout.decode()
    done = subprocess.run(
        ["pwsh", "-NoProfile", "-Command", script + "\n'understood'"], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip().endswith("understood"), done.stderr


@pytest.mark.requirement("BROWSE-14")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_another_key_or_none_can_be_said(capsys: pytest.CaptureFixture[str], tmp_path: Path, shell: str) -> None:
    line = CommandLine(capsys, tmp_path / "home", tmp_path / "data")
    assert "_OVILLO_COMPLETE" in line.run("init", shell).out
    assert {"bash": '"\\eo"', "zsh": "'^[o'", "fish": "bind \\eo", "powershell": "Alt+o"}[shell] in line.run(
        "init", shell, "--key", "alt-o"
    ).out
    assert "browse --print" not in line.run("init", shell, "--key", "none").out
    refused = line.run("init", shell, "--key", "ctrl-g'; rm")
    assert (refused.code, refused.out) == (2, "")
    assert "alt-LETTER" in refused.err
