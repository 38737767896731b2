"""What a question about code costs beside a large project: ``python -m bench.code_questions --code DIR``.

The code of DIR is indexed into a store of its own (50,000 definitions for the figure of issue 10: Django, SymPy and NetworkX in
one folder), no history beside it. Questions of each kind in four languages are then asked through the tool ``get_context``,
after one of each kind that wakes what is asleep. Times are of the processor: other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from bench.tables import keep, percentile, table, verdict
from ovillo.app import open_services
from ovillo.composition import Composition
from ovillo.interfaces.tools.registry import Registry
from ovillo.model.records import DEFAULT_NAMESPACE
from ovillo.security.principals import LOCAL
from ovillo.sessions.caller import CallContext
from ovillo.settings import Settings

TOOL = "get_context"
_BAR_MS = 90.0
_ASKED: dict[str, tuple[str, ...]] = {
    "behaviour": (
        "what happens when a session has expired?",
        "how does the cache decide which entry to throw away?",
        "¿qué pasa cuando el archivo que se sube es demasiado grande?",
        "que se passe-t-il quand le mot de passe est faux ?",
        "o que acontece quando a matriz não é quadrada?",
    ),
    "definition": (
        "where is the shortest path between two nodes computed?",
        "¿dónde se define el límite de intentos?",
        "which function parses dates?",
        "quelle fonction envoie des courriels ?",
    ),
    "callers": ("who calls the function that escapes html?", "¿quién llama a la función que simplifica fracciones?"),
    "tests": ("which tests cover integration by parts?", "quais testes verificam o login?"),
    "of sessions": ("what did we decide about the rate limiter?", "¿cuándo arreglamos la fuga de memoria?"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--code", type=Path, required=True, help="folder of source code")
    parser.add_argument("--data", type=Path, help="data folder to fill, or to ask again when it is filled")
    parser.add_argument(
        "--embedder", default="none", help="minilm: every definition is embedded first, which takes long"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    code = arguments.code.resolve()
    with tempfile.TemporaryDirectory() as folder:
        data = arguments.data or Path(folder)
        services = open_services(Settings(data, data, embedder=arguments.embedder, watch=False))
        try:
            report = services.code.index(DEFAULT_NAMESPACE, code)
            services.symbols.vectors.embed_all(DEFAULT_NAMESPACE)
            definitions = sum(root.symbols for root in services.code.roots(DEFAULT_NAMESPACE))
            took = {kind: _took(services, code, asked, arguments.rounds) for kind, asked in _ASKED.items()}
        finally:
            services.close()
    every = [ms for times in took.values() for ms in times]
    rows = [[kind, len(times), percentile(times, 0.5), percentile(times, 0.95)] for kind, times in took.items()]
    rows.append(["all", len(every), percentile(every, 0.5), percentile(every, 0.95)])
    print(f"{definitions:,} definitions in {report.files:,} files")
    print(table("get_context about code, processor time", ["kind", "asked", "p50 ms", "p95 ms"], rows))
    p95 = percentile(every, 0.95)
    print(f"p95 <= {_BAR_MS:g} ms: {verdict(p95, _BAR_MS)}")
    keep("code_questions", {"definitions": definitions, "rows": rows, "p95_ms": p95}, arguments.results)
    return 0


def _took(services: Composition, code: Path, asked: tuple[str, ...], rounds: int) -> list[float]:
    registry = Registry.of(TOOL)
    took = []
    for number in range(len(asked) * rounds + 1):
        arguments = {"query": asked[number % len(asked)]}
        began = time.process_time()
        registry.dispatch(services, LOCAL, TOOL, arguments, CallContext(TOOL, arguments, roots=(str(code),)))
        took.append((time.process_time() - began) * 1e3)
    return took[1:]


if __name__ == "__main__":
    sys.exit(main())
