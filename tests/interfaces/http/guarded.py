"""The whole application behind access control, with a key for each role."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ovillo.app import open_services
from ovillo.interfaces.mcp.http import mount as mcp_mount
from ovillo.interfaces.rest.mount import open_mount as rest_mount
from ovillo.interfaces.services import Services
from ovillo.interfaces.websocket.mount import open_mount as websocket_mount
from tests.interfaces.http.serving import Answer, Site, serving
from tests.interfaces.opened import settings_for

NAMESPACE, FOREIGN = "team", "rivals"


MOUNTS = (mcp_mount, rest_mount, websocket_mount)


@dataclass(frozen=True, slots=True)
class Guarded:
    site: Site
    services: Services
    reader: str
    writer: str
    admin: str
    #: A writer and admin of another namespace.
    foreign: str

    def ask(self, key: str | None, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        sent = {"Authorization": f"Bearer {key}"} if key is not None else {}
        return self.site.ask(method, path, body, **sent, **headers)


@contextmanager
def guarded(home: Path, **settings: Any) -> Iterator[Guarded]:
    """``auth`` is ``apikey`` unless told."""
    wanted = settings_for(home, **{"auth": "apikey", "toolsets": ("all",), **settings})
    services = open_services(wanted)
    try:
        keys = [services.keys.create(NAMESPACE, role, role=role)[1] for role in ("reader", "writer", "admin")]
        foreign = services.keys.create(FOREIGN, "foreign", role="admin")[1]
        with serving(wanted, *MOUNTS, services=services) as site:
            yield Guarded(site, services, *keys, foreign)
    finally:
        services.close()
