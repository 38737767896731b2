"""Follow what is recorded, message by message, as it happens. Start ``ovillo serve`` first; Ctrl-C ends it.

python examples/follow_changes.py [MESSAGES]
"""

import asyncio
import sys

from ovillo.client import AsyncOvillo


async def follow(most: int | None) -> None:
    seen = 0
    async with AsyncOvillo() as ovillo:
        async for change in ovillo.changes(since=0):
            if change.message is not None:
                print(f"{change.session_id} {change.message.role}: {change.message.content}", flush=True)
                seen += 1
                if seen == most:
                    return


asyncio.run(follow(int(sys.argv[1]) if len(sys.argv) > 1 else None))
