"""Every command of the pages is run, in order, as a reader would type it, and prints what the page shows.

Each page gets a home folder of its own with the demo history, scanned and searchable by meaning, real ``ovillo`` processes and
real servers. How pages say what differs each time: CONTRIBUTING, "Pages".
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ovillo.demo import unpack
from tests.docs import clients
from tests.docs.matching import differences, filled, placeholders
from tests.docs.not_run import ASKS, NOT_RUN
from tests.docs.pages import (
    END_SERVERS,
    PAGES,
    ROOT,
    Command,
    Configuration,
    Conversation,
    Program,
    Step,
    inline_code,
    steps,
)
from tests.docs.situations import SITUATIONS
from tests.docs.terminals import Desk, Failed


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def demo(place: Path) -> Path:
    """A home with the demo read and embedded. The database names its places, so it is made where it will be used."""
    home = place / "home"
    unpack(place, time.time_ns() // 1_000_000)
    environment = {"HOME": str(home), "LANG": "C.UTF-8"}
    for arguments in (["scan"], ["embed"]):
        subprocess.run(
            [sys.executable, "-m", "ovillo", *arguments], env=environment, cwd=home, check=True, capture_output=True
        )
    return home.rename(place / "demo")


@pytest.fixture
def desk(place: Path, demo: Path, tmp_path: Path) -> Iterator[Desk]:
    """A reader in a folder with a checkout of ovillo and a small project of their own."""
    home, other = place / "home", place / "other"
    shutil.copytree(demo, home)
    other.mkdir()
    folder = home / "shop"
    shutil.copytree(ROOT / "tests" / "fixtures" / "code" / "shop", folder)
    (home / ".curlrc").write_text("fail-with-body\n", encoding="utf-8")
    checkout(folder)
    reader = Desk(home, folder, tmp_path)
    yield reader
    reader.close()
    shutil.rmtree(home)
    shutil.rmtree(other)


def checkout(folder: Path) -> None:
    """What ``make run`` needs of a checkout whose installation is done."""
    for name in ("Makefile", "scripts", "requirements.lock", "requirements-build.lock", "pyproject.toml"):
        (folder / name).symlink_to(ROOT / name)
    environment = folder / ".venv"
    (environment / "bin").mkdir(parents=True)
    for path in Path(sys.prefix).iterdir():
        if path.name not in {".installed", "bin"}:
            (environment / path.name).symlink_to(path)
    for name in ("python", "ovillo"):
        (environment / "bin" / name).symlink_to(Path(sys.prefix) / "bin" / name)
    (environment / ".installed").touch()


@pytest.mark.requirement("PROJ-5")
def test_commands_named_in_passing_work_where_they_are_complete(desk: Desk) -> None:
    """Those of README, tutorials and how-tos that no step types; servers, and what needs one, are started where a page shows it."""
    pages = [page for page in PAGES if page.parent == ROOT or page.parent.name in {"tutorial", "how-to"}]
    typed = [step.text for page in pages for step in steps(page) if isinstance(step, Command)]
    named = {code.removeprefix(".venv/bin/") for page in pages for _, code in inline_code(page)}
    wrong = []
    for command in sorted(named):
        complete = re.match(r"ovillo (?!serve|open|scan)[a-z]", command) and not re.search(r"[A-Z…]", command)
        if not complete or any(command in text for text in typed):
            continue
        code, printed = desk.type(answered(command), bool)
        if code != 0 and not re.search(r"Missing (?:argument|option|command|parameter)", printed):
            wrong.append(f"{command}: exit code {code}:\n{printed}")
    assert wrong == []


@pytest.mark.requirement("PROJ-5")
@pytest.mark.parametrize(
    "page", [page for page in PAGES if steps(page)], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_every_step_of_the_page_works_and_prints_what_it_shows(page: Path, desk: Desk) -> None:
    wrong = []
    for step in steps(page):
        try:
            take(step, desk)
        except (Failed, LookupError) as error:
            wrong.append(f"{page.relative_to(ROOT)}:{step.line}: {step.text}\n{error}")
    try:
        end_servers(desk)
    except Failed as error:
        wrong.append(f"{page.relative_to(ROOT)}: {error}")
    if wrong:
        pytest.fail("\n\n".join(wrong), pytrace=False)


def take(step: Step, desk: Desk) -> None:
    """Do what the page asks.

    Raises:
        Failed: when it does not work, or prints something else.
    """
    match step:
        case Command():
            run(step, desk)
        case Program():
            run_program(step, desk)
        case Configuration():
            environment, folder = desk.environment()
            entries = clients.entries_of_configuration(step.language, desk.really(step.text), environment)
            for entry in entries:
                reach(entry, desk)
            if step.language == "toml" and not entries:
                (folder / "ovillo.toml").write_text(step.text, encoding="utf-8")
                run(Command(step.line, "OVILLO_CONFIG=ovillo.toml ovillo config show"), desk)
        case Conversation():
            converse(step, desk)


def run(step: Command, desk: Desk) -> None:
    if any(step.text.startswith(beginning) for beginning in NOT_RUN):
        return
    if step.text.startswith(END_SERVERS):
        end_servers(desk)
        return
    if step.given and step.text in SITUATIONS:
        SITUATIONS[step.text](desk)
        return
    expected = re.search(r"# .*\bexit code (\d+)", step.text)
    goes_on = desk.goes_on(step.text)
    # Of what goes on, the page shows the beginning.
    shown = step.shown if step.shown is None or not goes_on else f"{step.shown}\n…"
    command = answered(filled(step.text, desk.printed, desk.meant))
    code, printed = desk.type(command, lambda text: shown is None or differences(shown, text) is None)
    for shown_anew in placeholders(step.shown or ""):
        desk.meant.pop(shown_anew, None)
    # curl ends with 22 when it is refused; a page that shows the refusal means it.
    if code != (int(expected[1]) if expected else 22 if step.shown and code == 22 else 0):
        raise Failed(f"exit code {code}:\n{printed}")
    if shown is not None and (wrong := differences(shown, printed)):
        raise Failed(wrong)
    for words in desk.foreign():
        if words[0] == "browser":
            if words[-1] != "200":
                raise Failed(f"the browser was shown {words[1:]}")
        else:
            reach(clients.entry_of_command(words, desk.environment()[0]), desk)


def reach(entry: clients.Entry, desk: Desk) -> None:
    """Once a page: several agents are given one entry."""
    if entry not in desk.reached:
        clients.connect_as_agent(entry, *desk.environment())
        desk.reached.append(entry)


def answered(command: str) -> str:
    """Nobody is there to be asked: a command that would ask is told the answer."""
    said, comment, rest = command.partition(" #")
    asks = ASKS.match(said) and not re.search(r" --(?:yes|dry-run)\b", said)
    return f"{said.rstrip()} --yes{comment}{rest}" if asks else command


def end_servers(desk: Desk) -> None:
    for command, (code, printed) in desk.end().items():
        if code != 0:
            raise Failed(f"{command} ended with {code}:\n{printed}")


def run_program(step: Program, desk: Desk) -> None:
    _, folder = desk.environment()
    path = folder / (step.name or "program.py")
    path.write_text(desk.really(step.text), encoding="utf-8")
    if step.name is None:
        run(Command(step.line, f"python {path.name}"), desk)


def converse(step: Conversation, desk: Desk) -> None:
    environment, folder = desk.environment()
    match step.kind:
        case "tools":
            clients.call_tools(filled(step.text, desk.printed, desk.meant), environment, folder)
        case "websocket":
            clients.talk_over_socket(step.text, *desk.server())
        case "execute":
            clients.talk_by_execute(step.text, *desk.server())
        case _:
            raise Failed(f"nobody knows how to hold a conversation of kind {step.kind!r}")
