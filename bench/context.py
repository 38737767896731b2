"""Latency of ``get_context`` beside a large history and a code index: ``python -m bench.context --data DIR --code DIR``.

``--data`` is a data folder that has scanned (and embedded) the corpus, see ``bench.scan``; it is copied. Without it the corpus
of ``--corpus`` is scanned first. The code of ``--code`` (2,000 files for the figure of DESIGN section 17) is indexed there. A
real server on loopback is then asked over one kept connection, the kinds of questions in turn: a reference within a session,
something described, a name, a matter of the past, what is still open.
"""

from __future__ import annotations

import argparse
import http.client
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.servers import OvilloServer
from bench.tables import keep, percentile, table, verdict

_BAR_MS = 100.0
_SESSIONS = 25
_ASKED: dict[str, tuple[str, ...]] = {
    "a reference": ("revisa esa función", "what does that class do?", "ouvre ce fichier", "e a outra função?"),
    "described": (
        "la función que valida contraseñas",
        "the class that parses dates",
        "la fonction qui envoie des courriels",
    ),
    "a name": ("How does {name} work?", "¿dónde está {name}?", "explique {name}"),
    "said before": ("why did we change the encoding?", "¿qué dijimos de los errores al leer?", "what failed on CI?"),
    "still open": ("¿hay algún bug pendiente de codificación?", "is there an open bug about parsing?"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, help="a home with .claude/, scanned when there is no --data")
    parser.add_argument("--data", type=Path, help="a data folder that holds the corpus already")
    parser.add_argument("--code", type=Path, required=True, help="folder of source code to index")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    if not (arguments.data or arguments.corpus):
        parser.error("give --data or --corpus")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _prepare(folder, arguments)
        with OvilloServer(folder, OVILLO_EMBEDDER=arguments.embedder, OVILLO_ENTITY_TRACKING="true") as server:
            listed = server.get(f"/api/sessions?limit={_SESSIONS}")
            sessions = [each["id"] for each in listed["sessions"]]
            facts = server.get("/api/code/roots")
            took = _asked(server, sessions, arguments.rounds)
            memory = server.rss_mb()
    rows = [[kind, len(times), percentile(times, 0.5), percentile(times, 0.95)] for kind, times in took.items()]
    every = [value for times in took.values() for value in times]
    rows.append(["all", len(every), percentile(every, 0.5), percentile(every, 0.95)])
    print(f"{listed.get('total', '?')} sessions, code: {json.dumps(facts)[:300]}, server {memory:.0f} MB")
    print(table("get_context over HTTP, one client", ["kind of question", "asked", "p50 ms", "p95 ms"], rows))
    p95 = percentile(every, 0.95)
    print(f"p95 <= {_BAR_MS:g} ms: {verdict(p95, _BAR_MS)}")
    keep("context", {"rows": rows, "p95_ms": p95, "memory_mb": memory}, arguments.results)
    return 0


def _prepare(folder: Path, arguments: argparse.Namespace) -> None:
    data = folder / "data"
    environment = {"HOME": str(arguments.corpus or folder), "OVILLO_DATA_DIR": str(data), "PATH": "/usr/bin:/bin"}
    environment["OVILLO_EMBEDDER"] = arguments.embedder
    run = [sys.executable, "-m", "ovillo"]
    if arguments.data:
        shutil.copytree(arguments.data, data)
    else:
        subprocess.run([*run, "scan"], env=environment, check=True, stdout=subprocess.DEVNULL)
        subprocess.run([*run, "embed"], env=environment, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*run, "code", "index", str(arguments.code.resolve())], env=environment, check=True)


def _asked(server: OvilloServer, sessions: Sequence[str], rounds: int) -> dict[str, list[float]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    headers = {"Content-Type": "application/json", **server.headers}
    took: dict[str, list[float]] = {kind: [] for kind in _ASKED}
    for number in range(rounds * len(sessions)):
        session = sessions[number % len(sessions)]
        for kind, questions in _ASKED.items():
            query = questions[number % len(questions)].format(name=_name(connection, session, headers))
            body: dict[str, Any] = {"query": query}
            if kind != "described":
                body["session_id"] = session
            began = time.perf_counter()
            status = _post(connection, body, headers)
            elapsed = (time.perf_counter() - began) * 1e3
            assert status == 200, f"{query}: {status}"
            if number >= len(_ASKED):  # the first ones wake what is asleep
                took[kind].append(elapsed)
    connection.close()
    return took


def _post(connection: http.client.HTTPConnection, body: dict[str, Any], headers: Mapping[str, str]) -> int:
    connection.request("POST", "/get_context", json.dumps(body).encode(), dict(headers))
    answer = connection.getresponse()
    answer.read()
    return answer.status


_names: dict[str, str] = {}


def _name(connection: http.client.HTTPConnection, session: str, headers: Mapping[str, str]) -> str:
    """A name that the session speaks of."""
    if session not in _names:
        connection.request("GET", f"/api/sessions/{session}/entities?limit=20", headers=dict(headers))
        found = json.loads(connection.getresponse().read()).get("entities", [])
        _names[session] = found[0]["name"] if found else "parse"
    return _names[session]


if __name__ == "__main__":
    sys.exit(main())
