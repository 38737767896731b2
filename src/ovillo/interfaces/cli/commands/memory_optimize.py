"""``ovillo memory optimize``: a smaller database, and what that really saved."""

from __future__ import annotations

import click

from ovillo.interfaces.cli.options import reading
from ovillo.interfaces.cli.output import print_json, tell_answer
from ovillo.interfaces.cli.state import State


@click.command()
@click.option(
    "--level",
    type=click.Choice(["light", "medium", "aggressive"]),
    default="light",
    help="medium also recompresses saved states; aggressive also rewrites text index and file.",
)
@click.option("--session", metavar="SESSION", help="Only what belongs to this session.")
@reading
def optimize(state: State, level: str, session: str | None) -> None:
    """Make the database smaller and say how many bytes the disk got back. No session, message or version is removed."""
    answer = state.call("memory_optimize", {"level": level, "target_session": session})
    if state.json:
        print_json(answer.data)
    else:
        tell_answer(answer.text)
