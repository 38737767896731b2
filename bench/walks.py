"""What one call passes through: a search over MCP, an append over REST, the scan of a file that grew.

    python -m bench.walks [--python OTHER/.venv/bin/python]

Starts the real program of an environment on the made-up histories of the repository, makes each call twice and watches the
second: which files and functions of ovillo it enters, and how often it goes from one package to another. Nothing is timed: watching
slows everything down.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from bench.servers import free_port
from bench.stdio_client import StdioClient
from bench.tables import table

_FIXTURE = Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "claude-code"
#: Runs in the watched process: between the two signals every call of a function of ovillo is noted, and then written down.
_WATCHER = """
import atexit, json, os, signal, sys, threading
root, out, entered = os.path.dirname(__import__("ovillo").__file__) + os.sep, sys.argv.pop(1), []
state = {"on": out.endswith("scan")}
def watch(frame, event, _):
    if event == "call" and state["on"] and (name := frame.f_code.co_filename).startswith(root):
        entered.append((name[len(root):], frame.f_code.co_qualname if hasattr(frame.f_code, "co_qualname") else frame.f_code.co_name))
def stop(*_):
    state["on"] = False
    with open(out, "w") as file:
        json.dump(entered, file)
def start(*_):
    entered.clear()
    state["on"] = True
signal.signal(signal.SIGUSR1, start); signal.signal(signal.SIGUSR2, stop); atexit.register(stop)
threading.setprofile(watch); sys.setprofile(watch)
from ovillo.app import main
sys.argv[0] = "ovillo"
main()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="the environment that is watched")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        shutil.copytree(_FIXTURE / "home", home, dirs_exist_ok=True)
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "OVILLO_DATA_DIR": str(home / "data")}
        environment |= {"OVILLO_WATCH": "false", "OVILLO_EMBEDDER": "none"}
        walk = [arguments.python, "-c", _WATCHER]
        subprocess.run([*walk, str(home / "first"), "scan"], env=environment, check=True, capture_output=True)
        rows = [
            _row("search over MCP", _search(walk, environment, home / "search")),
            _row("append over REST", _append(walk, environment, home / "append")),
            _row("scan of a file that grew", _scan(walk, environment, home)),
        ]
    print(
        table("What one call passes through", ("call", "files", "functions", "calls", "moves between packages"), rows)
    )


def _search(walk: list[str], environment: Mapping[str, str], out: Path) -> list[tuple[str, str]]:
    with StdioClient([*walk, str(out), "mcp"], environment) as client:
        client.call("search_sessions", {"query": "error"})
        return _watched(client.pid, out, lambda: client.call("search_sessions", {"query": "test"}))


def _append(walk: list[str], environment: Mapping[str, str], out: Path) -> list[tuple[str, str]]:
    port = free_port()
    command = [*walk, str(out), "serve", "--port", str(port), "--auth", "none"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as server:
        try:
            _until_ready(port)
            _post(port, "/api/sessions", {"id": "mine"})
            _post(port, "/api/sessions/mine/messages", {"role": "user", "content": "before"})
            words = {"role": "user", "content": "what is watched"}
            return _watched(server.pid, out, lambda: _post(port, "/api/sessions/mine/messages", words))
        finally:
            server.terminate()


def _scan(walk: list[str], environment: Mapping[str, str], home: Path) -> list[tuple[str, str]]:
    file = max((home / ".claude").rglob("*.jsonl"), key=lambda path: path.stat().st_mtime)
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if '"type":"user"' in line]
    grown = {**json.loads(lines[-1]), "uuid": "11111111-2222-3333-4444-555555555555"}
    with file.open("a", encoding="utf-8") as appended:
        appended.write(json.dumps(grown) + "\n")
    out = home / "of-scan"
    subprocess.run([*walk, str(out), "scan"], env=environment, check=True, capture_output=True)
    return _read(out)


def _watched(pid: int, out: Path, call: Callable[[], object]) -> list[tuple[str, str]]:
    os.kill(pid, signal.SIGUSR1)
    time.sleep(0.5)
    call()
    os.kill(pid, signal.SIGUSR2)
    for _ in range(100):
        if out.exists():
            break
        time.sleep(0.1)
    return _read(out)


def _read(out: Path) -> list[tuple[str, str]]:
    time.sleep(0.5)
    return [(file, name) for file, name in json.loads(out.read_text()) if not name.startswith("<module")]


def _row(name: str, entered: list[tuple[str, str]]) -> tuple[str, ...]:
    packages = [file.partition("/")[0] for file, _ in entered]
    moves = sum(before != after for before, after in itertools.pairwise(packages))
    files = len({file for file, _ in entered})
    return name, f"{files}", f"{len(set(entered))}", f"{len(entered):,}", f"{moves:,}"


def _until_ready(port: int) -> None:
    for _ in range(300):
        try:
            if _post(port, "/readyz", None) == 200:
                return
        except OSError:
            pass
        time.sleep(0.1)


def _post(port: int, path: str, body: object) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    text = None if body is None else json.dumps(body)
    connection.request("GET" if body is None else "POST", path, text, {"Content-Type": "application/json"})
    status = connection.getresponse().status
    connection.close()
    return status


if __name__ == "__main__":
    main()
