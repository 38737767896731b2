"""Keep what an agent of the OpenAI Agents SDK says, and go on with it later. Needs ``pip install 'ovillo[openai-agents]'`` and a model
(``OPENAI_API_KEY``, and ``OPENAI_BASE_URL`` where it is another one than OpenAI's). No server of ovillo has to run.

python examples/openai_agents_session.py
"""

import asyncio

from agents import Agent, Runner

from ovillo.adapters.openai_agents import OvilloSession


async def main() -> None:
    agent = Agent(name="Clerk", instructions="Answer in one sentence.")
    session = OvilloSession("support-42", name="Refused cards")
    for question in ("Which cards does the bank refuse?", "Since when?"):
        answer = await Runner.run(agent, question, session=session)
        print(answer.final_output)
    print(
        f"{len(await session.get_items())} items kept. People read them with: ovillo session show {session.ovillo_id}"
    )


asyncio.run(main())
