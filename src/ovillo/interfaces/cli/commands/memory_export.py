"""``ovillo memory export`` and ``import``: memories as Markdown that a person edits."""

from __future__ import annotations

from pathlib import Path

import click

from ovillo.interfaces.cli.files import write_output
from ovillo.interfaces.cli.options import reading
from ovillo.interfaces.cli.output import print_json, tell, write_out
from ovillo.interfaces.cli.state import State
from ovillo.memory.importing import EXPORTED
from ovillo.memory.markdown import from_markdown, to_markdown
from ovillo.model.errors import InvalidInput, NotFound
from ovillo.model.memories import Layer
from ovillo.model.quoting import named
from ovillo.model.wording import counted
from ovillo.security.principals import LOCAL

_MAX_BYTES = 64 * 1024 * 1024
_LAYERS = click.Choice([each.value for each in EXPORTED])


@click.command()
@click.option("-o", "--output", default="-", metavar="FILE", help="File to write; default: standard output.")
@click.option("--layer", "layers", type=_LAYERS, multiple=True, help="Only of this layer; may be given several times.")
@click.option("--force", is_flag=True, help="Write over a file that exists.")
@reading
def export(state: State, output: str, layers: tuple[str, ...], force: bool) -> None:
    """Write what is remembered (episodes, facts, procedures with their history) as one Markdown document."""
    chosen = tuple(map(Layer, layers)) or EXPORTED
    memories = state.services().memories.importing.exported(LOCAL.namespace, viewer=LOCAL.name, layers=chosen)
    document = to_markdown(memories).encode("utf-8", "replace")
    if output == "-":
        write_out([document])
        return
    write_output(Path(output), [document], force=force)
    if state.json:
        print_json({"file": output, "memories": len(memories)})
    else:
        tell(
            f"Wrote {counted(len(memories), 'memory', 'memories')} to {named(output)}. Edit it, then: ovillo memory import {named(output)}"
        )


@click.command(name="import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--own", is_flag=True, help="It is yours: what is new or edited holds at once, confirmed by you.")
@reading
def import_(state: State, file: Path, own: bool) -> None:
    """Take in FILE: what is new or edited waits for review, unless it is your own."""
    try:
        with file.open("rb") as opened:
            data = opened.read(_MAX_BYTES + 1)
    except OSError as error:
        raise NotFound(
            f"{file} cannot be read: {error.strerror or error}.", hint="Give a file of `ovillo memory export`."
        ) from None
    if len(data) > _MAX_BYTES:
        raise InvalidInput(f"{file} is larger than {_MAX_BYTES // 1024 // 1024} MiB.", hint="Export layer by layer.")
    memories = from_markdown(data.decode("utf-8", "replace"))
    done = state.services().memories.importing.take_in(
        LOCAL.namespace, memories, viewer=LOCAL.name, source=f"file {file.name}", own=own
    )
    if state.json:
        print_json(
            {"added": done.added, "changed": done.changed, "unchanged": done.unchanged, "proposed": done.proposed}
        )
        return
    tell(f"{done.added} new, {done.changed} edited, {done.unchanged} unchanged.")
    if done.proposed:
        tell(f"{counted(done.proposed, 'memory waits', 'memories wait')} for you: ovillo memory review list")
