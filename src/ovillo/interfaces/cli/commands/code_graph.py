"""``ovillo code graph`` and ``ovillo code export``: the index of a folder as a whole."""

from __future__ import annotations

from pathlib import Path

import click

from ovillo.interfaces.cli.files import unwritable, write_output
from ovillo.interfaces.cli.options import reading
from ovillo.interfaces.cli.output import print_json, tell, tell_lines, write_out
from ovillo.interfaces.cli.state import State
from ovillo.model.quoting import flat
from ovillo.security.principals import LOCAL

NS = LOCAL.namespace
_root = click.option(
    "--root", metavar="DIR", help="The indexed folder (default: the one around here, or the only one)."
)


@click.command("graph")
@_root
@click.option("--svg", is_flag=True, help="Draw it.")
@click.option("--output", type=click.Path(path_type=Path), help="Write there instead of to standard output.")
@reading
def graph(state: State, root: str | None, svg: bool, output: Path | None) -> None:
    """Which module imports which. Files are relative to the folder; installed packages stay names."""
    from ovillo.interfaces.tools.code_shapes import module_info  # start-up cost

    service = state.services().code
    home = chosen_root(state, root)
    if svg:
        _deliver(service.picture(NS, home), output)
        return
    nodes = service.graph(NS, home)
    if state.json:
        print_json({"root": home, "modules": [module_info(node) for node in nodes]})
        return
    lines = []
    for node in nodes:
        lines.append(node.path)
        lines += [f"  imports {file}" for file in node.imports_files]
        if node.related_features:
            lines.append(f"  tickets {', '.join(node.related_features[:20])}")
    _deliver("\n".join(map(flat, lines)) + "\n", output)


@click.command("export")
@click.option("--output", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder to write to.")
@_root
@reading
def export(state: State, output: Path, root: str | None) -> None:
    """Write function_map.json and module_graph.json (MCP-HUB v6)."""
    home = chosen_root(state, root)
    try:
        written = [str(path) for path in state.services().code.export(NS, home, output)]
    except OSError as error:
        raise unwritable(output, error) from None
    if state.json:
        print_json({"root": home, "files": written})
    else:
        tell_lines(written)


def chosen_root(state: State, given: str | None) -> str:
    """Raises NotFound, Ambiguous."""
    service = state.services().code
    if given is not None:
        return service.root(NS, given)
    here = str(Path.cwd().resolve())
    known = [root.path for root in service.roots(NS)]
    around = [path for path in known if here == path or here.startswith(path.rstrip("/") + "/")]
    return max(around, key=len) if around else service.root(NS)


def _deliver(text: str, output: Path | None) -> None:
    if output is None:
        write_out([text.encode("utf-8", "replace")])
        return
    write_output(output, [text.encode("utf-8", "replace")], force=True)
    tell(str(output))
