"""``ovillo session stats``: the figures of one session as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ovillo.interfaces.cli.options import reading
from ovillo.interfaces.cli.output import console, print_json, put, styled, tell
from ovillo.interfaces.cli.state import State
from ovillo.model.quoting import one_line
from ovillo.security.principals import LOCAL
from ovillo.sessions.transfer.transcript import moment, span

if TYPE_CHECKING:
    from rich.table import Table

    from ovillo.model.records import Usage
    from ovillo.sessions.views import Statistics

_TOOLS = 15


@click.command()
@click.argument("session")
@reading
def stats(state: State, session: str) -> None:
    """Show duration, tokens, cost, changes and tools of SESSION.

    What a fork inherited and what its sub-agents did stand apart and are not added in.
    """
    if state.json:
        print_json(state.call("get_session_stats", {"sessionID": session, "response_format": "detailed"}).data)
        return
    services = state.services()
    found = services.catalog.resolve(LOCAL.namespace, session)
    figures = services.statistics.of(LOCAL.namespace, found.session.id)
    screen = console(state)
    tell(styled(one_line(figures.summary.title, 200), bold=True))
    put(screen, _facts(figures))
    tell()
    put(screen, _tokens(figures))
    if figures.own.tools:
        tell()
        put(screen, _tools(figures))


def _facts(figures: Statistics) -> Table:
    from rich.table import Table  # start-up cost: not with --json
    from rich.text import Text

    session, own = figures.summary.session, figures.own
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    rows = [
        ("session", f"{session.id}  {session.source}"),
        ("from", f"{moment(session.created_at)} to {moment(session.updated_at)} UTC"),
        ("duration", f"{span(figures.duration_ms)}, of it active {span(figures.active_ms)}"),
        ("messages", f"{own.messages:,} ({own.prompts:,} prompts), {own.parts:,} parts, {own.errors:,} errors"),
        ("agents", ", ".join(figures.agents)),
        ("models", ", ".join(own.models)),
        ("changes", f"+{figures.additions:,} -{figures.deletions:,} in {figures.files:,} files"),
    ]
    for name, value in rows:
        if value:
            table.add_row(name, Text(one_line(value, 400)))
    return table


def _tokens(figures: Statistics) -> Table:
    from rich.table import Table  # start-up cost: not with --json

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("tokens", no_wrap=True)
    for name in ("input", "output", "reasoning", "cache read", "cache write", "cost", "messages"):
        table.add_column(name, justify="right", no_wrap=True)
    own, inherited, below = figures.own, figures.inherited, figures.descendants
    table.add_row("this session", *_usage(own.usage), _cost(own.cost), f"{own.messages:,}")
    if inherited.messages:
        table.add_row("inherited", *_usage(inherited.usage), _cost(inherited.cost), f"{inherited.messages:,}")
    if below.sessions:
        label = f"{below.sessions} sub-agent{'s' if below.sessions > 1 else ''}"
        table.add_row(label, *_usage(below.usage), _cost(below.cost), f"{below.messages:,}")
    return table


def _cost(cost: float | None) -> str:
    return "unknown" if cost is None else f"{cost:.4f}"


def _usage(usage: Usage) -> list[str]:
    return [f"{x:,}" for x in (usage.input, usage.output, usage.reasoning, usage.cache_read, usage.cache_write)]


def _tools(figures: Statistics) -> Table:
    from rich.table import Table  # start-up cost: not with --json
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("tool", no_wrap=True)
    for name in ("calls", "failed"):
        table.add_column(name, justify="right", no_wrap=True)
    used = sorted(figures.own.tools.items(), key=lambda item: (-item[1][0], item[0]))
    for name, (calls, failed) in used[:_TOOLS]:
        table.add_row(Text(one_line(name, 80)), f"{calls:,}", f"{failed:,}" if failed else "")
    if len(used) > _TOOLS:
        table.add_row(f"and {len(used) - _TOOLS} more", "", "")
    return table
