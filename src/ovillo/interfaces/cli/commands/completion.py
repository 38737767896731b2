"""``ovillo completion``: the script that completes commands and options in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from ovillo.interfaces.cli.options import plain
from ovillo.interfaces.cli.output import tell_text
from ovillo.interfaces.cli.state import State

_WHERE = {
    "bash": '~/.bashrc:  eval "$(ovillo completion bash)"',
    "zsh": '~/.zshrc:  eval "$(ovillo completion zsh)"',
    "fish": "once:  ovillo completion fish > ~/.config/fish/completions/ovillo.fish",
}


@click.command(epilog="\b\n" + "\n".join(_WHERE.values()))
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@plain
def completion(_: State, shell: str) -> None:
    """Print the completion script for SHELL."""
    made = get_completion_class(shell)
    assert made is not None
    script = made(click.get_current_context().find_root().command, {}, "ovillo", "_OVILLO_COMPLETE")
    tell_text(script.source_template % script.source_vars())
