"""Over HTTP: appending messages durably, reading a session as a model is to see it, and get_context: rate and latency.

    python -m bench.append [--seconds 10] [--connections 32] [--results DIR]

Starts a real server on loopback and loads it with ``wrk`` (Debian package ``wrk``) on the same machine. Every request
carries its own idempotency key and about 400 characters of text; the answer comes after COMMIT with
``synchronous=FULL``. Afterwards the messages are counted: as many as were acknowledged, at least.

get_context is asked by two clients at once (it is work of the processor: more clients measure the queue) on a server of
its own, which has read some 20 MB of transcripts made by ``bench.corpus``; half of the questions name a session.

Bars (DESIGN section 17), on two quiet cores: at least 3,000 appends a second, p95 at most 25 ms; get_context and
reading p95 at most 100 ms.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bench.corpus import generate
from bench.servers import OvilloServer, free_port, wait_for_port
from bench.tables import keep, table, verdict

_SESSIONS = 8
_ASKING = 2
_PATIENCE_S = 60.0
_APPEND = """
local text = string.rep("The validator drops the last record when a buffer ends inside a character; see jsonl.py line 88. ", 4)
local head = {["Content-Type"] = "application/json"}
for name, value in pairs(wrk.headers) do head[name] = value end
local n = 0
local run = tostring(os.time()) .. "-" .. tostring(math.random(1, 1000000000))
request = function()
  n = n + 1
  head["Idempotency-Key"] = run .. "-" .. tostring(thread_id or 0) .. "-" .. n
  local body = string.format('{"role":"user","content":"%d %s"}', n, text)
  return wrk.format("POST", "/api/sessions/bench-" .. (n % SESSIONS) .. "/messages", head, body)
end
response = function(status) if status ~= 201 then bad = (bad or 0) + 1 end end
"""
_READ = """
local n = 0
request = function()
  n = n + 1
  return wrk.format("GET", "/api/sessions/bench-" .. (n % SESSIONS))
end
"""
_CONTEXT = """
local head = {["Content-Type"] = "application/json"}
for name, value in pairs(wrk.headers) do head[name] = value end
local asked = {ASKED}
local n = 0
request = function()
  n = n + 1
  return wrk.format("POST", "/get_context", head, asked[n % #asked + 1])
end
"""
_REPORT = """
done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format('\\n{"requests":%d,"us":%d,"p50":%d,"p95":%d,"p99":%d,"errors":%d,"bad":%d}\\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(95), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.timeout, errors.status))
end
"""


#: What uvicorn alone makes of the same requests: judge by the ratio, since the speed of a shared machine swings.
_FLOOR = """
import json, sys, uvicorn

async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    said = json.loads(body)["content"]
    answer = json.dumps({"id": "msg", "seq": len(said), "replayed": False}).encode()
    head = [(b"content-type", b"application/json"), (b"content-length", str(len(answer)).encode())]
    await send({"type": "http.response.start", "status": 201, "headers": head})
    await send({"type": "http.response.body", "body": answer})

uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", lifespan="off")
"""


def bare(seconds: int, connections: int) -> dict[str, float]:
    """The same load on a server that stores nothing."""
    port = free_port()
    with subprocess.Popen([sys.executable, "-c", _FLOOR, str(port)]) as server:
        try:
            wait_for_port(port)
            return load(_APPEND, f"http://127.0.0.1:{port}", seconds, connections)
        finally:
            server.kill()


def load(
    script: str, address: str, seconds: int, connections: int, headers: Mapping[str, str] = MappingProxyType({})
) -> dict[str, float]:
    """What wrk reports: requests, their rate, latencies in milliseconds, failures."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as lua:
        lua.write(script.replace("SESSIONS", str(_SESSIONS)) + _REPORT)
        lua.flush()
        sent = [option for name, value in headers.items() for option in ("-H", f"{name}: {value}")]
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", lua.name, *sent, address]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"^\{.*\}$", out, re.MULTILINE)
    assert found, out
    raw = json.loads(found[0])
    return {
        "per_s": raw["requests"] / (raw["us"] / 1e6),
        "requests": raw["requests"],
        "p50": raw["p50"] / 1000,
        "p95": raw["p95"] / 1000,
        "p99": raw["p99"] / 1000,
        "failed": raw["errors"] + raw["bad"],
    }


def measure(seconds: int, connections: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, OvilloServer(Path(folder)) as server:
        for number in range(_SESSIONS):
            server.post("/api/sessions", {"id": f"bench-{number}", "name": f"Bench {number}"})
        load(_APPEND, server.address, 2, connections, server.headers)  # warms up
        cpu = server.cpu_s()
        appended = load(_APPEND, server.address, seconds, connections, server.headers)
        appended["cpu_us"] = (server.cpu_s() - cpu) / max(appended["requests"], 1) * 1e6
        tidied = _until_summarised(server)
        read = load(_READ, server.address, max(3, seconds // 3), connections, server.headers)
        kept = sum(server.get(f"/api/sessions/bench-{number}/messages?limit=1")["total"] for number in range(_SESSIONS))
        floor = bare(max(3, seconds // 3), connections)
        return {
            "floor": floor,
            "append": appended,
            "read": read,
            "get_context": answer_questions(max(3, seconds // 3)),
            "kept": kept,
            "rss_mb": server.rss_mb(),
            "summarised_s": tidied,
        }


def answer_questions(seconds: int) -> dict[str, float]:
    """The load of get_context, on transcripts with something to be found in them."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        home.mkdir()
        needles = generate(home, sessions=60, megabytes=20, seed=7)
        bodies = [
            json.dumps({"query": needle["query"], **({"session_id": needle["session"]} if number % 2 else {})})
            for number, needle in enumerate(needles)
            if needle["class"] != "regex"
        ]
        with OvilloServer(Path(folder), home=home) as server:
            server.post("/api/sources/scan", {})
            for body in bodies:
                server.post("/get_context", json.loads(body))  # warms up
            asked = ", ".join(f"[==[{body}]==]" for body in bodies)
            return load(_CONTEXT.replace("ASKED", asked), server.address, seconds, _ASKING, server.headers)


def _until_summarised(server: OvilloServer) -> float:
    """Seconds until every session that was filled has its summary, which is made when appending ends."""
    began = time.monotonic()
    while time.monotonic() - began < _PATIENCE_S:
        waiting = [
            server.get(f"/api/sessions/bench-{number}")["session"]["summaryPending"] for number in range(_SESSIONS)
        ]
        if not any(waiting):
            break
        time.sleep(0.5)
    return time.monotonic() - began


def report(result: dict[str, Any]) -> str:
    rows = [
        [
            name,
            round(found["per_s"]),
            found["p50"],
            found["p95"],
            found["p99"],
            round(found.get("cpu_us", 0)) or "-",
            found["failed"],
        ]
        for name, found in (
            ("bare uvicorn, storing nothing", result["floor"]),
            ("append, durable", result["append"]),
            ("read a session", result["read"]),
            (f"get_context, {_ASKING} clients", result["get_context"]),
        )
    ]
    head = ["what", "per s", "p50 ms", "p95 ms", "p99 ms", "CPU us", "failed"]
    append, read, context = result["append"], result["read"], result["get_context"]
    lost = "none lost" if result["kept"] >= append["requests"] else f"LOST {append['requests'] - result['kept']:.0f}"
    bars = [
        ["appends per second", round(append["per_s"]), 3_000, "ok" if append["per_s"] >= 3_000 else "MISSED"],
        ["append p95, ms", append["p95"], 25, verdict(append["p95"], 25)],
        ["read p95, ms", read["p95"], 100, verdict(read["p95"], 100)],
        ["get_context p95, ms", context["p95"], 100, verdict(context["p95"], 100)],
    ]
    return "\n\n".join(
        [
            table("HTTP appends and reads", head, rows),
            table("Bars", ["what", "measured", "bar", ""], bars),
            f"appends beside the bare server: x{append['per_s'] / result['floor']['per_s']:.2f}",
            f"{result['kept']:,} messages kept, {lost}; server {result['rss_mb']:.0f} MB resident;"
            f" all summarised {result['summarised_s']:.1f} s after the last append",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--results", type=Path)
    arguments = parser.parse_args()
    if shutil.which("wrk") is None:
        print("wrk is not installed (Debian: apt-get install wrk).")
        return 1
    result = measure(arguments.seconds, arguments.connections)
    print(report(result))
    if arguments.results:
        keep("append", result, arguments.results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
