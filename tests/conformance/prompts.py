"""The fixture's prompts, and what completes their arguments.

Owns their names, arguments and messages.
"""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from tests.conformance import contents, rounds
from tests.conformance.contract import Context

_COMPLETIONS = ("paris", "park", "party")


def _needed(name: str, description: str) -> types.PromptArgument:
    return types.PromptArgument(name=name, description=description, required=True)


LISTED = (
    types.Prompt(name="test_simple_prompt", description="A prompt without arguments"),
    types.Prompt(
        name="test_prompt_with_arguments",
        description="A prompt with two arguments",
        arguments=[_needed("arg1", "First test argument"), _needed("arg2", "Second test argument")],
    ),
    types.Prompt(
        name="test_prompt_with_embedded_resource",
        description="A prompt with a resource in it",
        arguments=[_needed("resourceUri", "URI of the resource to embed")],
    ),
    types.Prompt(name="test_prompt_with_image", description="A prompt with an image in it"),
    types.Prompt(name="test_input_required_result_prompt", description="A prompt that asks the user first"),
)


def get(ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult | types.InputRequiredResult:
    """Raises MCPError for a prompt that nobody knows and for a missing argument."""
    prompt = next((each for each in LISTED if each.name == params.name), None)
    if prompt is None:
        raise MCPError(types.INVALID_PARAMS, f"No prompt named {params.name!r}.")
    given = params.arguments or {}
    missing = [each.name for each in prompt.arguments or [] if each.required and each.name not in given]
    if missing:
        raise MCPError(types.INVALID_PARAMS, f"{prompt.name} needs {', '.join(missing)}.")
    if prompt.name == "test_input_required_result_prompt":
        return _after_asking(ctx, params)
    return _messages(*_content(prompt.name, given))


def complete(params: types.CompleteRequestParams) -> types.CompleteResult:
    values = [each for each in _COMPLETIONS if each.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=values, total=len(values), has_more=False))


def _content(name: str, given: dict[str, str]) -> tuple[Any, ...]:
    if name == "test_prompt_with_arguments":
        return (contents.text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"),)
    if name == "test_prompt_with_embedded_resource":
        return (
            contents.embedded(given["resourceUri"], "Embedded resource content for testing."),
            contents.text("Please process the embedded resource above."),
        )
    if name == "test_prompt_with_image":
        return contents.image(), contents.text("Please analyze the image above.")
    return (contents.text("This is a simple prompt for testing."),)


def _after_asking(
    ctx: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    rounds.check_rounds(ctx)
    context = rounds.filled_in(rounds.given(params), "user_context", "context")
    if not context:
        return rounds.ask({"user_context": rounds.form("What context should the prompt use?", "context")})
    return _messages(contents.text(f"Use this context: {context}"))


def _messages(*content: Any) -> types.GetPromptResult:
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=each) for each in content])
