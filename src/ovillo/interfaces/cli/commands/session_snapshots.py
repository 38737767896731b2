"""``ovillo session snapshots`` and ``ovillo session diff``: saved versions, and what changed between two."""

from __future__ import annotations

import json

import click

from ovillo.interfaces.cli.options import reading
from ovillo.interfaces.cli.output import Styled, console, print_json, put, styled, tell
from ovillo.interfaces.cli.state import State
from ovillo.model.clock import to_iso
from ovillo.model.quoting import one_line
from ovillo.security.principals import LOCAL
from ovillo.sessions.snapshot_diff import Change
from ovillo.sessions.transfer.transcript import moment
from ovillo.store.protocol import Snapshot

_VALUE_CHARS = 100


@click.command()
@click.argument("session")
@click.option("--limit", type=click.IntRange(1, 1_000), default=50, help="Versions to show (default 50).")
@click.option("--before", type=click.IntRange(1), help="Only versions older than this one.")
@reading
def snapshots(state: State, session: str, limit: int, before: int | None) -> None:
    """List the saved versions of SESSION's state, newest first."""
    services = state.services()
    found = services.catalog.resolve(LOCAL.namespace, session)
    page = services.snapshots.versions(LOCAL.namespace, found.session.id, before=before, limit=limit)
    if state.json:
        rows = {"snapshots": [_row(row) for row in page.versions], "total": page.total}
        print_json(rows if page.before is None else {**rows, "next_before": page.before})
        return
    if not page.versions:
        tell("No saved version; `ovillo session save` makes one.")
        return
    from rich.table import Table  # start-up cost: not with --json

    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("version", "saved (UTC)", "bytes", "stored", "level", "delta of"):
        table.add_column(name, justify="left" if name.startswith("saved") else "right", no_wrap=True)
    for row in page.versions:
        base = "" if row.base is None else str(row.base)
        table.add_row(
            str(row.version),
            moment(row.saved_at),
            f"{row.plain_bytes:,}",
            f"{row.stored_bytes:,}",
            str(row.level),
            base,
        )
    put(console(state), table)
    if page.before is not None:
        tell(f"\n{page.total} in all. More: --before {page.before}")


@click.command()
@click.argument("session")
@click.argument("old", type=click.IntRange(1))
@click.argument("new", type=click.IntRange(1), required=False)
@click.option("--limit", type=click.IntRange(1), default=200, help="Changes to show (default 200; --json: all).")
@reading
def diff(state: State, session: str, old: int, new: int | None, limit: int) -> None:
    """Show what changed in SESSION's state from version OLD to NEW (default: the newest)."""
    services = state.services()
    found = services.catalog.resolve(LOCAL.namespace, session)
    made = services.snapshots.diff(LOCAL.namespace, found.session.id, old, new)
    if state.json:
        changes = [_operation(change) for change in made.changes]
        print_json({"from_version": made.from_version, "to_version": made.to_version, "changes": changes})
        return
    number = len(made.changes)
    tell(f"Version {made.from_version} to {made.to_version}: {number or 'no'} change{'' if number == 1 else 's'}.")
    for change in made.changes[:limit]:
        tell(*_pieces(change))
    if number > limit:
        tell(f"... and {number - limit} more; --limit shows more, --json all.")


def _row(row: Snapshot) -> dict[str, object]:
    return {
        "version": row.version,
        "saved_at": to_iso(row.saved_at),
        "compression_level": row.level,
        "bytes": row.plain_bytes,
        "stored_bytes": row.stored_bytes,
        "delta_of": row.base,
        "checksum": row.checksum.hex(),
    }


def _operation(change: Change) -> dict[str, object]:
    shown: dict[str, object] = {"op": change.op, "path": change.path}
    if change.op != "remove":
        shown["value"] = change.value
    if change.op != "add":
        shown["was"] = change.was
    return shown


def _pieces(change: Change) -> tuple[Styled, str]:
    mark, color = {"add": ("+", "green"), "remove": ("-", "red"), "replace": ("~", "yellow")}[change.op]
    was, now = _short(change.was), _short(change.value)
    what = {"add": now, "remove": was, "replace": f"{was} -> {now}"}[change.op]
    return styled(mark, fg=color), f" {one_line(change.path or '/', 200)}  {what}"


def _short(value: object) -> str:
    return one_line(json.dumps(value, ensure_ascii=False), _VALUE_CHARS)
