"""What a page asks its reader to do, in order: commands, programs, settings of clients, calls of tools, frames of sockets.

Owns reading Markdown. Runs nothing. What a block is, its first words say (CONTRIBUTING, "Pages"); an indented block is ``sh``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parent.parent.parent

#: Pages whose steps are run. Decisions and notes of developers are not for users.
PAGES = [
    ROOT / "README.md",
    *sorted(
        page
        for folder in ("tutorial", "how-to", "reference", "explanation")
        for page in (ROOT / "docs" / folder).glob("*.md")
    ),
]

_SHELL = {"", "sh", "console"}
_PROGRAMS = {"python"}
_CONFIGURATION = {"json", "toml"}
_CONVERSATIONS = {"tools", "websocket", "execute"}
_TEXT = {"text", "markdown"}
_SAVED_AS = re.compile(r"Save (?:this )?as `([\w.-]+)`")
_GIVEN = re.compile(r"<!-- given: (.+?) -->", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Command:
    """``shown`` is what the page says it prints; None where it says nothing. A ``given`` one is not for the reader's eyes."""

    line: int
    text: str
    shown: str | None = None
    given: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """``name`` is the file it is to be saved as; None where it runs as it stands."""

    line: int
    language: str
    text: str
    name: str | None


@dataclass(frozen=True, slots=True)
class Configuration:
    line: int
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """Calls of tools, or what goes to and fro over a socket or ``execute``."""

    line: int
    kind: str
    text: str


#: In a comment on a line of its own: what the reader does before the next command.
END_SERVERS = "# Ctrl-C"

Step = Command | Program | Configuration | Conversation


class UnknownBlock(ValueError):
    pass


def tokens(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))


def steps(page: Path) -> list[Step]:
    """All steps of ``page``.

    Raises:
        UnknownBlock: for a block that does not say what it is.
    """
    found: list[Step] = []
    prose = ""
    for token in tokens(page):
        line = token.map[0] + 1 if token.map else 0
        if token.type == "inline":
            prose = token.content
        elif token.type == "html_block":
            found += [Command(line, text.strip(), given=True) for text in _GIVEN.findall(token.content)]
        elif token.type in {"fence", "code_block"}:
            found += _block(page, line, token, prose)
    return found


def texts(page: Path) -> Iterator[tuple[int, str]]:
    """Lines of blocks that are nothing to be done."""
    for token in tokens(page):
        if token.type == "fence" and token.info.split()[-1:] and token.info.split()[-1] in _TEXT:
            first = token.map[0] + 2 if token.map else 0
            yield from enumerate(token.content.splitlines(), first)


def inline_code(page: Path) -> Iterator[tuple[int, str]]:
    for token in tokens(page):
        for child in token.children or ():
            if child.type == "code_inline":
                yield (token.map[0] + 1 if token.map else 0), child.content


def _block(page: Path, line: int, token: Token, prose: str) -> list[Step]:
    words = token.info.split()
    kind = words[-1] if words else ""
    first = line + (token.type == "fence")
    if kind in _SHELL:
        return list(_commands(first, token.content))
    if kind in _PROGRAMS:
        saved = _SAVED_AS.search(prose)
        return [Program(first, kind, token.content, saved[1] if saved else None)]
    if kind in _CONVERSATIONS:
        return [Conversation(first, kind, token.content)]
    if kind in _CONFIGURATION:
        return [Configuration(first, kind, token.content)]
    if kind in _TEXT:
        return []
    raise UnknownBlock(f"{page.relative_to(ROOT)}:{line}: a block of kind {token.info!r}; see CONTRIBUTING, Pages")


def _commands(line: int, block: str) -> Iterator[Command]:
    """With ``$`` before commands, what follows one is what it prints; without, every line is a command."""
    lines = block.rstrip("\n").split("\n")
    prompts = any(text.startswith("$ ") for text in lines)
    at = 0
    while at < len(lines):
        start, text = at, lines[at].removeprefix("$ ")
        at += 1
        while at < len(lines) and not _is_whole(text):
            text += "\n" + lines[at]
            at += 1
        shown = at
        while prompts and at < len(lines) and not lines[at].startswith("$ "):
            at += 1
        if shlex.split(text, comments=True) or END_SERVERS in text:
            yield Command(line + start, text, "\n".join(lines[shown:at]) if at > shown else None)


def _is_whole(text: str) -> bool:
    """Whether a shell would run it, or wait for another line."""
    if text.endswith("\\"):
        return False
    if ends := re.search(r"<<'?(\w+)'?", text):
        return text.rsplit("\n", maxsplit=1)[-1] == ends[1]
    try:
        shlex.split(text, comments=True)
    except ValueError:
        return False
    return True
