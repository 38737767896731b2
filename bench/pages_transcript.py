"""A session of 16,735 parts in a real browser: first row, jumps, scrolling, nodes, memory; and how soon a recorded message shows.

    python -m bench.pages_transcript [--parts 16735]

Bars (issue 13): first row < 1.0 s, a jump settled within 8 px, < 10,000 nodes, renderer < 400 MB, scrolling p95 < 50 ms a
frame, a recorded message on the page within 300 ms. Needs chromium and playwright (``pip install '.[dev]'``).
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.contestants import OVILLO, environment_of, run_all
from bench.long_session import make_database
from bench.servers import OvilloServer
from bench.tables import keep, percentile, table, verdict

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

#: Scrolls by so many pixels a frame, a hundred times, and gives the time of each frame.
_SCROLL = """async (step) => {
  const frame = () => new Promise(requestAnimationFrame);
  const times = [];
  let last = await frame();
  for (let at = 0; at < 100; at++) {
    scrollBy({ top: step, behavior: "instant" });
    const now = await frame();
    times.push(now - last);
    last = now;
  }
  return times;
}"""
#: How far a row is from where a jump puts it: 8 px below the header's shadow, or at the end of the page.
_OFF = """(number) => {
  const row = document.querySelector(`[data-row="${number}"]:not(.waiting)`);
  if (!row) return 1e6;
  const edge = document.querySelector(".top").getBoundingClientRect().bottom + 16;
  const isLast = scrollY + innerHeight >= document.documentElement.scrollHeight - 1;
  const box = row.getBoundingClientRect();
  return isLast ? (box.bottom <= innerHeight && box.top >= edge - 8 ? 0 : 1e6) : Math.abs(box.top - edge);
}"""
_SETTLED_MS = 1_200


def measure(browser: Browser, server: OvilloServer, session: str, rounds: int) -> dict[str, Any]:
    first, ready, opened = [], [], []
    context = browser.new_context(
        base_url=server.address, extra_http_headers=dict(server.headers), viewport={"width": 1200, "height": 800}
    )
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    for _ in range(rounds):
        page.goto("about:blank")
        began = time.perf_counter()
        page.goto(f"/sessions/{session}", wait_until="commit")
        page.wait_for_selector("[data-row]")
        first.append((time.perf_counter() - began) * 1000)
        page.wait_for_selector(".feed.virtual [data-row]")
        ready.append((time.perf_counter() - began) * 1000)
        page.locator(".fold[data-part] > summary").first.click()
        page.wait_for_selector(".fold[open] .body[data-filled] pre, .fold[open] .body[data-filled] .said")
        opened.append((time.perf_counter() - began) * 1000)
    total = int(page.get_attribute("#transcript", "data-total") or 0)
    jumps = {number: _jump(page, number) for number in (total * 3 // 4, total, 3, total // 2)}
    page.goto(f"/sessions/{session}?at={total // 3}")
    page.wait_for_timeout(_SETTLED_MS)
    by_link = float(page.evaluate(_OFF, total // 3))
    slow = page.evaluate(_SCROLL, 60)
    fast = page.evaluate(_SCROLL, 1_500)
    page.wait_for_timeout(500)
    found = {
        "rows": total,
        "first_row_ms": first,
        "ready_ms": ready,
        "opened_ms": opened,
        "jumps_px": jumps,
        "link_px": by_link,
        "slow_ms": slow,
        "fast_ms": fast,
        "nodes": page.evaluate("document.getElementsByTagName('*').length"),
        "renderer_mb": _renderer_mb(browser),
        "faults": faults,
    }
    context.close()
    return found


def _jump(page: Page, number: int) -> float:
    page.keyboard.press("#")
    page.fill("#go-to input", str(number))
    page.keyboard.press("Enter")
    page.wait_for_timeout(_SETTLED_MS)
    return float(page.evaluate(_OFF, number))


def live(browser: Browser, server: OvilloServer, rounds: int) -> list[float]:
    """From the acknowledged message to its text on the page (ms)."""
    session = server.post("/api/sessions", {"name": "live"})["session"]["id"]
    path = f"/api/sessions/{session}/messages"
    server.post(path, {"role": "user", "content": "to begin with"})
    context = browser.new_context(base_url=server.address, extra_http_headers=dict(server.headers))
    page = context.new_page()
    page.goto(f"/sessions/{session}")
    page.wait_for_selector(".feed.virtual [data-row]")
    page.wait_for_timeout(1_000)
    took = []
    for number in range(rounds):
        server.post(path, {"role": "user", "content": f"message-{number}-end"})
        began = time.perf_counter()
        page.wait_for_selector(f"text=message-{number}-end")
        took.append((time.perf_counter() - began) * 1000)
    context.close()
    return took


def _renderer_mb(browser: Browser) -> float:
    """The largest renderer's resident memory."""
    processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    sizes = [_resident_kb(int(each["id"])) for each in processes if each["type"] == "renderer"]
    return max(sizes, default=0) / 1000


def _resident_kb(process: int) -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS:")), 0)


def report(result: dict[str, Any]) -> str:
    first, jumps = percentile(result["first_row_ms"], 0.5), max(*result["jumps_px"].values(), result["link_px"])
    slow, fast = percentile(result["slow_ms"], 0.95), percentile(result["fast_ms"], 0.95)
    shown = percentile(result["live_ms"], 0.5)
    rows = [
        ["first row, ms (median)", first, 1_000, verdict(first, 1_000)],
        ["the list is taken over, ms (median)", percentile(result["ready_ms"], 0.5), None, ""],
        ["a part was opened, ms (median)", percentile(result["opened_ms"], 0.5), None, ""],
        ["jumps, px off after 1.2 s (most of 5)", jumps, 8, verdict(jumps, 8)],
        ["scrolling 60 px a frame, p95 ms", slow, 50, verdict(slow, 50)],
        ["scrolling 1,500 px a frame, p95 ms", fast, 50, verdict(fast, 50)],
        ["nodes", result["nodes"], 10_000, verdict(result["nodes"], 10_000)],
        ["renderer, MB", result["renderer_mb"], 400, verdict(result["renderer_mb"], 400)],
        ["a recorded message shows, ms (median)", shown, 300, verdict(shown, 300)],
        ["the same, most", max(result["live_ms"]), None, ""],
    ]
    faults = "".join(f"\nfault: {each}" for each in result["faults"])
    return table(f"A session of {result['rows']} rows", ("what", "measured", "bar", ""), rows) + faults


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", type=int, default=16_735)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("chromium is missing: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        session = make_database(home / ".local" / "share" / "opencode" / "opencode.db", arguments.parts)
        scanned = run_all(OVILLO.index(home), home, OVILLO)
        if scanned.code:
            sys.exit(scanned.err)
        data = environment_of(home)["OVILLO_DATA_DIR"]
        with OvilloServer(Path(folder), home=home, OVILLO_DATA_DIR=data) as server, sync_playwright() as playwright:
            options = ["--no-sandbox", "--disable-dev-shm-usage"]
            browser = playwright.chromium.launch(executable_path=chromium, args=options)
            result = measure(browser, server, session, arguments.rounds)
            result["live_ms"] = live(browser, server, 10)
            browser.close()
    keep("pages_transcript", result, arguments.results)
    print(report(result))


if __name__ == "__main__":
    main()
