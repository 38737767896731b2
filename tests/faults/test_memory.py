"""Large sessions through a real server and a real command: what they take at most, read from outside the process.

Bounds, not measurements: they lie far below what holding the session whole would take, and above all noise.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.memory import by_command, fill, peak_of, unread
from bench.servers import OvilloServer

#: Megabytes of recorded text, and in how many messages.
SIZE, MESSAGES = 40, 80
PATH = "/api/sessions/ses_large"

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is read from /proc")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    fill(folder / "data", SIZE * 1_000_000, MESSAGES)
    return folder


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[OvilloServer]:
    with OvilloServer(home, "--auth", "none") as running:
        # What is loaded once is not what an answer takes.
        running.get(f"{PATH}/messages?limit=1")
        yield running


def grown(server: OvilloServer, path: str, method: str = "GET") -> tuple[float, float]:
    """Megabytes more at the peak, and afterwards, than before."""
    before = server.rss_mb()
    peak, after, _ = peak_of(server.pid, lambda: server.drain(method, path))
    return peak - before, after - before


@pytest.mark.requirement("LOAD-4")
def test_a_page_of_large_messages_takes_little_and_gives_it_back(server: OvilloServer) -> None:
    peak, after = grown(server, f"{PATH}/messages?limit=100000")
    assert peak < SIZE
    assert after < SIZE / 2


@pytest.mark.requirement("LOAD-4")
@pytest.mark.parametrize("form", ["json", "jsonl", "md", "html"])
def test_an_export_over_http_takes_less_than_the_session(server: OvilloServer, form: str) -> None:
    peak, _ = grown(server, f"{PATH}/export?format={form}", "GET" if form == "jsonl" else "POST")
    assert peak < SIZE


@pytest.mark.requirement("LOAD-4")
def test_sockets_that_ask_for_all_and_read_nothing_take_a_bounded_piece_each(server: OvilloServer) -> None:
    before = server.rss_mb()
    peak, after, _ = peak_of(server.pid, lambda: asyncio.run(unread(server.address, 30, 20)))
    # One session a socket would be 1.2 GB.
    assert peak - before < 30 * 10
    assert after - before < 30 * 5
    assert server.get("/healthz")["status"] == "ok"


@pytest.mark.requirement("LOAD-4")
def test_a_session_is_recovered_and_read_by_an_agent_without_being_held_whole(server: OvilloServer) -> None:
    for tool in ("get_session_history", "recover_context"):
        call = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "execute",
            "params": {"tool": tool, "params": {"sessionID": "ses_large"}},
        }
        before = server.rss_mb()
        peak, _, _ = peak_of(server.pid, lambda call=call: server.post("/mcp/v1/execute", call))  # type: ignore[misc]
        assert peak - before < SIZE


@pytest.mark.requirement("LOAD-4")
def test_the_command_exports_in_bounded_memory(home: Path) -> None:
    least = by_command(home, ["list"])["peak"]
    for form in ("json", "md"):
        made = home / f"made.{form}"
        used = by_command(home, ["export", "ses_large", "--format", form, "--output", str(made), "--force"])
        assert used["peak"] - least < SIZE
        assert made.stat().st_size > SIZE * 1_000_000 * 0.95
    assert json.loads((home / "made.json").read_bytes())["session"]["messages"][-1]["id"] == f"msg_{MESSAGES}"
