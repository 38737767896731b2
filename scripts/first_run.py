"""``make run``: read this machine's agent histories (or the demo where there are none), then serve MCP.

Owns the order of the first run and what it prints. Everything it does is a command of ``ovillo`` that can be
typed by hand.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from ovillo.demo import demo_environment, unpack
from ovillo.settings import load_settings

OVILLO = [sys.executable, "-m", "ovillo"]

NEXT_STEPS = """
{what}

Pages for you:             http://{host}:{port}/         (`{open}` lets your browser in)
MCP over streamable HTTP:  http://{host}:{port}/mcp      (Ctrl-C ends it)

In another terminal, from this folder:
{commands}

Next, attach your agents (it shows what it would change, asks first{whose}):
  {path} install
"""


def scan(environment: Mapping[str, str]) -> int:
    """Scans, showing progress; the number of sessions known afterwards."""
    bar = ["--progress"] if sys.stderr.isatty() else []
    done = subprocess.run(
        [*OVILLO, "scan", *bar], env=dict(environment), check=False, stdout=subprocess.PIPE, text=True
    )
    # What to do next is said once, below, with commands that work in this folder.
    told = done.stdout.partition("\nNext:\n")[0]
    print("\n".join(line for line in told.splitlines() if line), flush=True)
    if done.returncode:
        sys.exit(done.returncode)
    sources = subprocess.run(
        [*OVILLO, "sources", "--json"], env=dict(environment), capture_output=True, text=True, check=True
    )
    return sum(source["sessions"] for source in json.loads(sources.stdout)["sources"])


def use_demo(environment: Mapping[str, str]) -> tuple[dict[str, str], int]:
    """Unpacks the demo beside the real data and scans it; its environment and number of sessions."""
    folder = load_settings(environment).data_dir / "demo"
    home = unpack(folder, time.time_ns() // 1_000_000)
    demo = demo_environment(environment, home, folder / "data")
    return demo, scan(demo)


def next_steps(sessions: int, environment: Mapping[str, str], demo: bool, host: str, port: int) -> str:
    path = Path(sys.executable).with_name("ovillo")
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    if demo:
        what = (
            f"No agent history was found on this machine, so this is the bundled DEMO: {sessions} invented sessions,\n"
            "kept apart from your own data. Run `make run` again once you have used an agent."
        )
        lines = [f"export OVILLO_DATA_DIR={shlex.quote(environment['OVILLO_DATA_DIR'])}    # chooses the demo"]
        queries = ["why does the rate limiter let bursts through", "redondeo por línea", "les accents disparaissent"]
    else:
        what = f"{sessions} sessions of this machine's agents are ready."
        lines, queries = [], ["words you remember"]
    lines.append(f"{shown} open")
    lines += [f'{shown} search "{query}"' for query in queries]
    lines += [f"{shown} session list"] if demo else [f"{shown} session list", f"{shown} sources"]
    return NEXT_STEPS.format(
        what=what,
        host=host,
        port=port,
        path=path,
        open=f"{shown} open",
        commands="\n".join(f"  {line}" for line in lines),
        whose=", and reads your own history, not the demo" if demo else "",
    )


def is_taken(host: str, port: int) -> bool:
    """Whether somebody answers there already: better said before a long first scan than after it."""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return port != 0 and probe.connect_ex((host, port)) == 0


def main() -> int:
    settings = load_settings(os.environ)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default=settings.host)
    parser.add_argument("--port", type=int, default=settings.port)
    parser.add_argument("--no-serve", action="store_true", help="stop after printing what to do next")
    arguments = parser.parse_args()

    if not arguments.no_serve and is_taken(arguments.host, arguments.port):
        print(f"Port {arguments.port} is in use; perhaps ovillo runs already. Another one: make run ARGS='--port 8766'")
        return 6
    environment: Mapping[str, str] = os.environ
    print("Reading the agent histories of this machine ...", flush=True)
    sessions = scan(environment)
    demo = sessions == 0
    if demo:
        environment, sessions = use_demo(environment)
    print(next_steps(sessions, environment, demo, arguments.host, arguments.port), flush=True)
    if arguments.no_serve:
        return 0
    serve = [*OVILLO, "serve", "--host", arguments.host, "--port", str(arguments.port)]
    os.execvpe(serve[0], serve, dict(environment))


if __name__ == "__main__":
    sys.exit(main())
