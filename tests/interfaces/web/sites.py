"""A server with pages over the demo's sessions, as programs and as a browser meet it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ovillo.demo import demo_environment, unpack
from tests.interfaces.http.serving import Answer, Site, process

HTML = "text/html,application/xhtml+xml"


@contextmanager
def demo_site(tmp_path: Path, *options: str, **variables: str) -> Iterator[Site]:
    """``ovillo serve`` over the demo, scanned."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "OVILLO_EMBEDDER": "none", **variables}
    home = unpack(tmp_path / "demo", time.time_ns() // 1_000_000)
    demo = demo_environment(environment, home, tmp_path / "data")
    subprocess.run([sys.executable, "-m", "ovillo", "scan"], env=demo, check=True, capture_output=True)
    with process(tmp_path, *options, **{**demo, **variables}) as (_, running):
        yield running


def page(site: Site, path: str, **headers: str) -> Answer:
    """A page as a browser asks for it."""
    return site.ask("GET", path, **{"Accept": HTML, **headers})


def text_of(answer: Answer) -> str:
    return answer.body.decode()


def send_form(site: Site, path: str, fields: dict[str, Any], **headers: str) -> Answer:
    from urllib.parse import urlencode

    body = urlencode(fields, doseq=True).encode()
    return site.ask(
        "POST", path, body, **{"Content_Type": "application/x-www-form-urlencoded", "Accept": HTML, **headers}
    )
