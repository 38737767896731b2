"""``ovillo memory context``: automatic recall for a call, typed or handed over by a client's hook."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from ovillo.interfaces.cli.options import reading
from ovillo.interfaces.cli.output import print_json, tell_answer, tell_text
from ovillo.interfaces.cli.state import State
from ovillo.interfaces.cli.tool_commands import JSON
from ovillo.model.errors import InvalidInput, OvilloError

#: A client hands over a call or a prompt, not a file (bytes).
_MAX_HOOK_BYTES = 4 * 1024 * 1024


@click.command()
@click.argument("tool_name", required=False)
@click.option("--args", "arguments", type=JSON, default="{}", help="JSON: the call's arguments.")
@click.option("--session", help="The session that calls.")
@click.option(
    "--hook",
    is_flag=True,
    help="Read what a client's pre-tool or prompt hook hands over on standard input; say nothing where nothing is remembered.",
)
@reading
def context(state: State, tool_name: str | None, arguments: Any, session: str | None, hook: bool) -> None:
    """What is remembered of a call of TOOL_NAME: a few short summaries, within 400 ms or not at all."""
    if hook:
        if sys.stdin.isatty():
            raise InvalidInput(
                "Nobody hands a call over.", hint="A client's hook calls this, with JSON on standard input."
            )
        _answer_hook(state)
        return
    if tool_name is None:
        raise InvalidInput("No tool is named.", hint="Give TOOL_NAME, or --hook.")
    if not isinstance(arguments, dict):
        raise InvalidInput("--args is no JSON object.", hint='Give {"name": value}.')
    answer = state.call(
        "retrieve_relevant_context", {"tool_name": tool_name, "args": arguments, "session_id": session or "current"}
    )
    if state.json:
        print_json(answer.data)
    else:
        tell_answer(answer.text)


def _answer_hook(state: State) -> None:
    """A hook never fails and never says a word that is not for the model: what goes wrong is as if nothing were remembered."""
    try:
        given = json.loads(sys.stdin.buffer.read(_MAX_HOOK_BYTES))
        event = str(given.get("hook_event_name") or "PreToolUse")
        prompt = given.get("prompt")
        name = "prompt" if isinstance(prompt, str) else str(given.get("tool_name") or "")
        arguments = {"prompt": prompt} if isinstance(prompt, str) else given.get("tool_input") or {}
        if not name or not isinstance(arguments, dict):
            return
        asked = {"tool_name": name, "args": arguments, "session_id": str(given.get("session_id") or "")}
        answer = state.call("retrieve_relevant_context", asked)
    except (ValueError, RecursionError, AttributeError, OSError, OvilloError):
        return
    if answer.data["summaries"]:
        from ovillo.model.quoting import noticed  # start-up cost: most calls remember nothing

        said = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": noticed(answer.text)}}
        tell_text(json.dumps(said, ensure_ascii=True))
