"""``ovillo mcp`` and ``ovillo serve``: hand over to the MCP servers, which the composition root brought along."""

from __future__ import annotations

from typing import Any

import click

from ovillo.interfaces.cli.options import plain
from ovillo.interfaces.cli.output import tell
from ovillo.interfaces.cli.state import State, check_readers
from ovillo.model.errors import InvalidInput

_toolsets = click.option(
    "--toolsets", metavar="NAMES", help="Which tools: all, or names with commas (history,context)."
)
_read_only = click.option("--read-only", is_flag=True, default=None, help="Leave out tools that write.")


@click.command()
@_toolsets
@_read_only
@plain
def mcp(state: State, toolsets: str | None, read_only: bool | None) -> None:
    """Serve MCP on standard input and output: what an agent starts.

    \b
    claude mcp add ovillo -- ovillo mcp
    codex mcp add ovillo -- ovillo mcp
    """
    state.flags |= {"toolsets": toolsets, "read_only": read_only}
    run_mcp(state)


def run_mcp(state: State) -> None:
    """Returns when the client closes its end."""
    settings = state.settings()
    check_readers(settings)
    if state.run_stdio is None:
        raise _missing()
    state.run_stdio(state.open_services, settings)


@click.command()
@click.option("--host", metavar="ADDRESS", help="Default 127.0.0.1; beyond loopback only with --auth.")
@click.option("--port", metavar="N", help="Default 8765; 0 takes a free one.")
@click.option("--auth", metavar="MODE", help="Who may come in: none (loopback only), apikey or jwt.")
@_toolsets
@_read_only
@click.option(
    "--conformance-fixture", is_flag=True, help="Serve what the MCP conformance suite calls instead; loopback only."
)
@plain
def serve(state: State, *, conformance_fixture: bool, **flags: Any) -> None:
    """Serve MCP, REST and WebSocket at http://127.0.0.1:8765, and watch the histories meanwhile.

    MCP is at /mcp, what else there is at /docs. Ctrl-C or SIGTERM finishes what is being answered and ends it.
    """
    state.flags |= flags
    settings = state.settings()
    check_readers(settings)
    run = state.run_fixture if conformance_fixture else state.run_http
    if run is None:
        raise _missing()
    run(state.open_services, settings, _fixture_ready if conformance_fixture else _ready)


def _ready(url: str) -> None:
    tell(f"MCP over streamable HTTP:  {url}/mcp   REST: {url}/docs   (Ctrl-C ends it)", err=True)


def _fixture_ready(url: str) -> None:
    tell(f"MCP conformance fixture, without any session:  {url}/mcp   (Ctrl-C ends it)", err=True)


def _missing() -> InvalidInput:
    return InvalidInput(
        "This build of ovillo comes without the MCP servers.", hint="Install the package ovillo as a whole."
    )
