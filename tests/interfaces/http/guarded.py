"""The whole application behind access control, with a key for each role."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ovillo.app import open_services
from ovillo.interfaces.mcp.http import door as mcp_door
from ovillo.interfaces.rest.door import open_door as rest_door
from ovillo.interfaces.services import Services
from ovillo.interfaces.websocket.door import open_door as websocket_door
from tests.interfaces.http.serving import Answer, Site, serving
from tests.interfaces.opened import settings_for

NAMESPACE, FOREIGN = "team", "rivals"


DOORS = (mcp_door, rest_door, websocket_door)


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
        with serving(wanted, *DOORS, services=services) as site:
            yield Guarded(site, services, *keys, foreign)
    finally:
        services.close()
