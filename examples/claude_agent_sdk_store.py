"""Keep what an agent of the Claude Agent SDK says, and go on with it where its files are not. Needs
``pip install 'ovillo[claude-agent-sdk]'`` and what Claude Code needs to reach a model. No server of ovillo has to run.

python examples/claude_agent_sdk_store.py
"""

import asyncio

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query

from ovillo.adapters.claude_agent_sdk import OvilloSessionStore

STORE = OvilloSessionStore()


async def ask(question: str, resume: str | None = None) -> str:
    """The session's id."""
    session_id = ""
    options = ClaudeAgentOptions(session_store=STORE, resume=resume, max_turns=3)
    async for message in query(prompt=question, options=options):
        if isinstance(message, ResultMessage):
            print(message.result)
            session_id = message.session_id
    return session_id


async def main() -> None:
    first = await ask("Which cards does the bank refuse?")
    await ask("Since when?", resume=first)
    print(f"People read it with: ovillo session show {first}")


asyncio.run(main())
