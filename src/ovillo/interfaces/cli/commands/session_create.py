"""``ovillo session create``: a session recorded by ovillo itself."""

from __future__ import annotations

from typing import Any

import click

from ovillo.interfaces.cli.memory_options import memory_options
from ovillo.interfaces.cli.options import reading
from ovillo.interfaces.cli.output import print_json, tell
from ovillo.interfaces.cli.state import State
from ovillo.model.clock import to_iso
from ovillo.model.records import SessionType
from ovillo.security.principals import LOCAL
from ovillo.sessions.drafts import SessionDraft
from ovillo.sessions.memory_choice import CHOICE


@click.command()
@click.argument("name", required=False)
@click.option("--id", "session_id", metavar="ID", help="Its id; made when not given.")
@click.option("--type", "kind", type=click.Choice([kind.value for kind in SessionType]), help="Told when not given.")
@click.option("--provider", metavar="NAME", help="Whose model is used.")
@click.option("--directory", metavar="DIR", help="Working directory of the session.")
@memory_options
@reading
def create(
    state: State,
    name: str | None,
    session_id: str | None,
    kind: str | None,
    provider: str | None,
    directory: str | None,
    memory: dict[str, Any] | None,
) -> None:
    """Create a session that ovillo records. Its id is printed; append to it with `ovillo session append`."""
    draft = SessionDraft(
        id=session_id,
        name=name,
        type=SessionType(kind) if kind else None,
        provider=provider,
        working_directory=directory,
        metadata=None if memory is None else {CHOICE: memory},
    )
    row, is_new = state.services().recorder.create(LOCAL.namespace, draft)
    session = row.session
    if state.json:
        print_json({"id": session.id, "created": to_iso(session.created_at), "new": is_new})
    else:
        tell(session.id)
