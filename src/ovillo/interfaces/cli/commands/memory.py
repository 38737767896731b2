"""``ovillo memory``: the group; each command is a module of its own."""

from __future__ import annotations

import click

from ovillo.interfaces.cli.lazy import LazyGroup

_C = "ovillo.interfaces.cli.commands"


@click.command(
    cls=LazyGroup,
    no_args_is_help=True,
    lazy={"optimize": (f"{_C}.memory_optimize:optimize", "Make the database smaller.")},
)
def memory() -> None:
    """What ovillo keeps, and how much room it takes."""
