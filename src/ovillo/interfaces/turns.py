"""How many server threads one caller keeps busy at once; its further calls queue, other callers' do not.

Owns the queues. Work abandoned by its client continues in its thread, and counts until it is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import anyio
import anyio.to_thread
from anyio import CapacityLimiter

from ovillo.model.foreground import Foreground

Result = TypeVar("Result")
#: For one caller, of the 40 threads that anyio has: some are always left for others.
_AT_ONCE = 8


@dataclass(slots=True)
class _Line:
    limiter: CapacityLimiter
    #: Calls that wait or run.
    calls: int = 0


class Turns:
    """At most ``most`` at once for each caller. For one event loop. ``foreground`` learns when a thread works."""

    def __init__(self, foreground: Foreground, most: int = _AT_ONCE) -> None:
        self._foreground = foreground
        self._most = most
        self._lines: dict[str, _Line] = {}

    async def run(
        self,
        caller: str,
        work: Callable[[], Result],
        *,
        limiter: CapacityLimiter | None = None,
        abandon_on_cancel: bool = False,
    ) -> Result:
        """The result of ``work`` in a thread of ``limiter``."""
        line = self._lines.setdefault(caller, _Line(CapacityLimiter(self._most)))
        line.calls += 1
        turn = object()
        loop = asyncio.get_running_loop()
        try:
            await line.limiter.acquire_on_behalf_of(turn)
        except BaseException:
            self._leave(caller, line)
            raise
        begun = ended = given_up = is_over = False

        def done() -> None:
            nonlocal is_over
            if is_over:
                return
            is_over = True
            line.limiter.release_on_behalf_of(turn)
            self._leave(caller, line)

        def worked() -> Result:
            nonlocal begun, ended
            begun = True
            try:
                with self._foreground:
                    return work()
            finally:
                ended = True
                # Waking the loop costs as much as a short answer: only where nobody waits for this one.
                if given_up:
                    with suppress(RuntimeError):  # the loop has ended
                        loop.call_soon_threadsafe(done)

        try:
            return await anyio.to_thread.run_sync(worked, limiter=limiter, abandon_on_cancel=abandon_on_cancel)
        finally:
            given_up = True
            # Not started: cancelled while it waited for a thread, so nobody will run it.
            if ended or not begun:
                done()

    def _leave(self, caller: str, line: _Line) -> None:
        line.calls -= 1
        if not line.calls:
            self._lines.pop(caller, None)
