"""``ovillo completion``: the script that completes commands and options in a shell, without the key of ``ovillo init``."""

from __future__ import annotations

import click

from ovillo.interfaces.cli.options import plain
from ovillo.interfaces.cli.output import tell_text
from ovillo.interfaces.cli.shells import SHELLS, completion_script
from ovillo.interfaces.cli.state import State


@click.command(epilog="`ovillo init SHELL` prints it with a key that browses sessions.")
@click.argument("shell", type=click.Choice(SHELLS))
@plain
def completion(_: State, shell: str) -> None:
    """Print the completion script for SHELL."""
    tell_text(completion_script(shell, click.get_current_context().find_root().command))
