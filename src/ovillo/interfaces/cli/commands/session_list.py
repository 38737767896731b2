"""``ovillo session list``: sessions of all agents, newest first."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from ovillo.interfaces.cli.options import reading
from ovillo.interfaces.cli.output import console, print_json, put, tell
from ovillo.interfaces.cli.state import State
from ovillo.model.limits import LIST_LIMIT_MAX
from ovillo.model.quoting import one_line
from ovillo.security.principals import LOCAL
from ovillo.sessions.transfer.transcript import moment
from ovillo.store.protocol import SessionFilter

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from ovillo.sessions.views import SessionPage, SessionSummary

_MOST = 10_000
_FOLDER = 16
#: With less room for titles a session takes two lines.
_LEAST_TITLE = 28


@click.command("list")
@click.argument("name", nargs=-1)
@click.option("--project", metavar="DIR", help="Project id, directory, or the name of its folder.")
@click.option("--source", metavar="READER", help="Client: opencode, claude_code, codex, gemini_cli, ...")
@click.option("--agent", metavar="NAME", help="Agent name within its client, e.g. build.")
@click.option("--limit", type=click.IntRange(1, _MOST), help="Sessions; 30 on a terminal, 50 with --json.")
@click.option("--cursor", metavar="TEXT", help="Go on after an earlier answer: its nextCursor.")
@reading
def list_sessions(
    state: State,
    name: tuple[str, ...],
    project: str | None,
    source: str | None,
    agent: str | None,
    limit: int | None,
    cursor: str | None,
) -> None:
    """List sessions, most recently changed first; NAME keeps those with these words in their title."""
    wanted = " ".join(name) or None
    if state.json and not source and not agent:
        print_json(_collect(state, {"sessionName": wanted, "projectID": project, "cursor": cursor}, limit or 50))
        return
    where = SessionFilter(name=wanted, project=project, source=source, agent=agent)
    catalog = state.services().catalog
    page = catalog.list(LOCAL.namespace, where, limit=min(limit or 30, LIST_LIMIT_MAX), cursor=cursor)
    if state.json:
        print_json(_data(page))
    else:
        _table(state, page)


def _collect(state: State, arguments: dict[str, Any], limit: int) -> dict[str, Any]:
    """Answers of the tool put together until there are ``limit``: its cap is for models, not for programs."""
    data: dict[str, Any] = {}
    while True:
        left = limit - len(data.get("sessions", ()))
        answer = state.call("list_sessions", {**arguments, "limit": min(left, LIST_LIMIT_MAX)}).data
        data = {**answer, "sessions": [*data.get("sessions", ()), *answer["sessions"]]}
        if "nextCursor" not in answer or len(data["sessions"]) >= limit or not answer["sessions"]:
            return data
        arguments = {**arguments, "cursor": answer["nextCursor"]}


def _data(page: SessionPage) -> dict[str, Any]:
    """The tool's shape for filters that the tool does not take."""
    # start-up cost: only this path formats sessions itself
    import msgspec

    from ovillo.interfaces.tools.shapes import session_info

    data: dict[str, Any] = {
        "sessions": [msgspec.to_builtins(session_info(x)) for x in page.sessions],
        "total": page.total,
    }
    if page.next_cursor:
        data["nextCursor"] = page.next_cursor
    return data


def _table(state: State, page: SessionPage) -> None:
    if not page.sessions:
        tell("No sessions. `ovillo scan` reads the histories of this machine; `ovillo search` looks inside sessions.")
        return
    screen = console(state)
    title = _room_for_titles(page, screen.width)
    # Into a pipe nothing is cut, unless somebody says how wide it is.
    cut = screen.is_terminal or "COLUMNS" in os.environ
    put(screen, _rows(page, title, cut=cut) if title >= _LEAST_TITLE else _two_lines(page))
    shown = len(page.sessions)
    if shown < page.total:
        more = f"; go on with --cursor {page.next_cursor}" if page.next_cursor else ""
        tell(f"\n{shown} of {page.total:,} sessions{more}")


def _room_for_titles(page: SessionPage, width: int) -> int:
    """Columns left when everything else stands whole, two spaces between columns."""
    ids = max(len(x.session.id) for x in page.sessions)
    clients = max(11, *(len(x.session.source) for x in page.sessions))
    return width - 16 - clients - 5 - _FOLDER - ids - 5 * 2


def _rows(page: SessionPage, title_width: int, *, cut: bool) -> Table:
    """One line a session; only title and folder give way to the width of a terminal."""
    from rich.table import Table  # start-up cost: not with --json
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("changed", no_wrap=True)
    table.add_column("title", no_wrap=True, overflow="ellipsis", max_width=title_width if cut else None)
    table.add_column("client", no_wrap=True)
    table.add_column("msgs", no_wrap=True, justify="right")
    table.add_column("folder", no_wrap=True, overflow="ellipsis", max_width=_FOLDER if cut else None)
    table.add_column("id", no_wrap=True)
    for x in page.sessions:
        folder = (x.session.directory or "").rstrip("/").rsplit("/", 1)[-1]
        table.add_row(
            moment(x.session.updated_at)[:16],
            Text(_title(x)),
            Text(one_line(x.session.source, 40)),
            f"{x.counts.messages:,}",
            Text(one_line(folder, 60), "dim"),
            Text(one_line(x.session.id, 80), "dim"),
        )
    return table


def _two_lines(page: SessionPage) -> Text:
    """For narrow terminals: an id that is cut is of no use."""
    from rich.text import Text  # start-up cost: not with --json

    text = Text()
    for x in page.sessions:
        session = x.session
        text.append(moment(session.updated_at)[:16].ljust(16), "dim")
        text.append(f"  {_title(x)}\n")
        text.append(
            f"{'':18}{one_line(session.id, 80)}  {one_line(session.source, 40)}  {x.counts.messages:,} messages\n",
            "dim",
        )
    text.rstrip()
    return text


def _title(x: SessionSummary) -> str:
    mark = {"subagent": "↳ ", "fork": "⑂ "}.get(x.session.kind.value, "")
    return mark + one_line(x.title, 200)
