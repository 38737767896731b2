"""``ovillo session lineage``: where a session comes from and what came out of it, as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ovillo.interfaces.cli.options import reading
from ovillo.interfaces.cli.output import console, print_json, put, tell
from ovillo.interfaces.cli.state import State
from ovillo.model.quoting import one_line
from ovillo.security.principals import LOCAL
from ovillo.sessions.transfer.transcript import moment

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

    from ovillo.sessions.views import Lineage, LineageNode, SessionSummary

_RELATION = {"parent": "sub-agent", "fork": "fork", "continuation": "continuation"}


@click.command()
@click.argument("session")
@reading
def lineage(state: State, session: str) -> None:
    """Show the parents of SESSION up to the root, everything below it, and its siblings."""
    if state.json:
        print_json(_whole(state, session))
        return
    services = state.services()
    found = services.catalog.resolve(LOCAL.namespace, session)
    family = services.lineage.of(LOCAL.namespace, found.session.id)
    screen = console(state)
    put(screen, _tree(family))
    _remarks(family)


def _whole(state: State, session: str) -> dict[str, object]:
    """All relatives, however many answers of the tool they take."""
    data = state.call("get_session_lineage", {"sessionID": session}).data
    following = data.pop("nextCursor", None)
    while following:
        more = state.call("get_session_lineage", {"sessionID": session, "cursor": following}).data
        for group in ("parentSessions", "childSessions", "siblings"):
            data[group] += more[group]
        following = more.get("nextCursor")
    return data


def _tree(family: Lineage) -> Tree:
    from rich.tree import Tree  # start-up cost: not with --json

    chain = [*reversed(family.parents), family.summary]
    root = Tree(_label(chain[0], here=len(chain) == 1), guide_style="dim")
    at = root
    for index, summary in enumerate(chain[1:], 1):
        at = at.add(_label(summary, _between(summary), here=index == len(chain) - 1))
    for node in family.children:
        _grow(at, node)
    return root


def _between(summary: SessionSummary) -> str:
    return "sub-agent" if summary.session.parent_id else "fork"


def _grow(tree: Tree, node: LineageNode) -> None:
    branch = tree.add(_label(node.summary, _RELATION.get(node.relation, node.relation)))
    for child in node.children:
        _grow(branch, child)


def _label(summary: SessionSummary, relation: str = "", *, here: bool = False) -> Text:
    from rich.text import Text  # start-up cost: not with --json

    session = summary.session
    text = Text(overflow="fold")
    if relation:
        text.append(f"{relation}  ", "cyan")
    text.append(one_line(summary.title, 90), "bold reverse" if here else "bold")
    text.append(
        f"  {moment(session.updated_at)[:16]}  {summary.counts.messages} messages  {one_line(session.id, 200)}", "dim"
    )
    return text


def _remarks(family: Lineage) -> None:
    if family.forked_from:
        point = f" at {family.fork_point}" if family.fork_point else ""
        tell(f"Forked from {family.forked_from.session.id}{point}.")
    if family.spawned_by:
        tell(f"Started by tool call {family.spawned_by[1]}.")
    if family.siblings:
        tell("Siblings:")
        for sibling in family.siblings:
            tell(f"  {sibling.session.id}  {one_line(sibling.title, 90)}")
    if not (family.parents or family.children or family.siblings or family.forked_from):
        tell("No parents, children or siblings are recorded.")
    for warning in family.warnings:
        tell(f"Warning: {one_line(warning, 300)}", err=True)
