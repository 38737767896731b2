"""Fan-out: one client appends over WebSocket, many follow; how long until everybody has it, and whether all do.

    python -m bench.sync [--sockets 100] [--messages 500] [--per-second 50] [--results DIR]

A real server on loopback; writer and followers live in this process, on one event loop, so that the figures hold the
client's own time too. Latency is from sending a message to its delivery at one follower, all on one clock. The same is
measured for the acknowledgement, and for a follower of a second server on the same database, which has to notice by
looking. At least one socket that never reads is there in a second round: the others' figures must not suffer.

Bars (issue 3): nothing lost, nothing twice.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from bench.servers import OvilloServer
from bench.tables import keep, percentile, table, verdict

_SESSION = "bench"
_TEXT = "The validator drops the last record when a buffer ends inside a character; see jsonl.py line 88. " * 4
_PATIENCE_S = 60.0


class Fan:
    """When each message was sent and acknowledged, and when each follower had it."""

    def __init__(self, messages: int) -> None:
        self.messages = messages
        self.sent: dict[int, float] = {}
        self.acked: dict[int, float] = {}
        self.arrived: list[dict[int, float]] = []
        self.twice = 0

    async def follow(self, socket: ClientConnection, into: dict[int, float]) -> None:
        while len(into) < self.messages:
            frame = json.loads(await socket.recv())
            if frame.get("kind") == "message":
                number = frame["message"]["seq"]
                self.twice += number in into
                into[number] = time.perf_counter()

    async def write(self, socket: ClientConnection, per_second: float) -> None:
        async def acknowledged() -> None:
            while len(self.acked) < self.messages:
                frame = json.loads(await socket.recv())
                if frame["type"] == "ack":
                    self.acked[frame["seq"]] = time.perf_counter()

        listening = asyncio.create_task(acknowledged())
        began = time.perf_counter()
        for number in range(1, self.messages + 1):
            await asyncio.sleep(max(0.0, began + number / per_second - time.perf_counter()))
            self.sent[number] = time.perf_counter()
            frame = {"type": "message", "session_id": _SESSION, "content": _TEXT, "idempotency_key": f"n{number}"}
            await socket.send(json.dumps(frame))
        await listening


async def _open(stack: AsyncExitStack, server: OvilloServer, *, subscribe: bool) -> ClientConnection:
    address = server.address.replace("http", "ws") + "/ws"
    socket = await stack.enter_async_context(
        connect(address, compression=None, ping_interval=None, additional_headers=server.headers)
    )
    if subscribe:
        await socket.send(json.dumps({"type": "subscribe", "session_id": _SESSION}))
        await socket.recv()
    return socket


async def fan_out(servers: list[OvilloServer], sockets: int, messages: int, rate: float, silent: int) -> dict[str, Any]:
    """``servers`` share a database; the writer is at the first, the followers at the last."""
    servers[0].post("/api/sessions", {"id": _SESSION, "name": "fan-out"})
    fan = Fan(messages)
    async with AsyncExitStack() as stack:
        writer = await _open(stack, servers[0], subscribe=False)
        for _ in range(silent):
            await _open(stack, servers[-1], subscribe=True)
        followers = [await _open(stack, servers[-1], subscribe=True) for _ in range(sockets)]
        fan.arrived = [{} for _ in followers]
        before = servers[-1].cpu_s()
        following = [fan.follow(socket, into) for socket, into in zip(followers, fan.arrived, strict=True)]
        await asyncio.wait_for(asyncio.gather(fan.write(writer, rate), *following), _PATIENCE_S + messages / rate)
        cpu = servers[-1].cpu_s() - before
    times = [(at - fan.sent[number]) * 1000 for into in fan.arrived for number, at in into.items()]
    last = [(max(into[n] for into in fan.arrived) - fan.sent[n]) * 1000 for n in fan.sent]
    acks = [(at - fan.sent[number]) * 1000 for number, at in fan.acked.items()]
    return {
        "p50": percentile(times, 0.5),
        "p95": percentile(times, 0.95),
        "max": max(times),
        "last p95": percentile(last, 0.95),
        "ack p50": percentile(acks, 0.5),
        "ack p95": percentile(acks, 0.95),
        "lost": sockets * messages - len(times),
        "twice": fan.twice,
        "cpu ms each": cpu * 1000 / messages,
        "rss MB": servers[-1].rss_mb(),
    }


def measure(sockets: int, messages: int, rate: float) -> dict[str, dict[str, Any]]:
    results = {}
    for name, two, silent in (
        ("one server", False, 0),
        ("and 3 that never read", False, 3),
        ("second server", True, 0),
    ):
        with tempfile.TemporaryDirectory() as folder, OvilloServer(Path(folder)) as first:
            if not two:
                results[name] = asyncio.run(fan_out([first], sockets, messages, rate, silent))
                continue
            # A folder of its own for the log; the data are the first one's.
            (Path(folder) / "second").mkdir()
            with OvilloServer(Path(folder) / "second", OVILLO_DATA_DIR=str(Path(folder) / "data")) as second:
                results[name] = asyncio.run(fan_out([first, second], sockets, messages, rate, silent))
    return results


def report(results: dict[str, dict[str, Any]]) -> str:
    columns = list(next(iter(results.values())))
    rows = [[name, *result.values()] for name, result in results.items()]
    bars = [
        [what, sum(result[what] for result in results.values()), 0, verdict(sum(r[what] for r in results.values()), 0)]
        for what in ("lost", "twice")
    ]
    return "\n\n".join(
        [
            table("Fan-out over WebSocket, milliseconds from sending to delivery", ("followers", *columns), rows),
            table("Bars", ("what", "measured", "bar", ""), bars),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sockets", type=int, default=100)
    parser.add_argument("--messages", type=int, default=500)
    parser.add_argument("--per-second", type=float, default=50.0)
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    results = measure(arguments.sockets, arguments.messages, arguments.per_second)
    keep("sync", {"sockets": arguments.sockets, "messages": arguments.messages, "rounds": results}, arguments.results)
    print(report(results))


if __name__ == "__main__":
    main()
