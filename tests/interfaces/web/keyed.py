"""A server in this process that lets in by keys: one that may only read, one that may do everything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ovillo.interfaces.services import Services
from ovillo.interfaces.web.mount import open_mount
from tests.interfaces.http.serving import Answer, Site, serving
from tests.interfaces.opened import settings_for
from tests.interfaces.web.sites import page, send_form, text_of


@contextmanager
def keyed_site(tmp_path: Path, **settings: Any) -> Iterator[tuple[Services, Site, Site]]:
    """The services, the server as a key of the role reader meets it, and as one of the role admin does."""
    with serving(settings_for(tmp_path, auth="apikey", **settings), open_mount) as site:
        assert site.context is not None
        services = site.context.backend.services()
        yield services, _as(services, site, "reader"), _as(services, site, "admin")


def _as(services: Services, site: Site, role: str) -> Site:
    _, text = services.keys.create("default", f"{role} of the test", role=role)
    return replace(site, credential={"X-API-Key": text})


def token_on(html: str) -> str:
    found = re.search(r'name="token" value="([^"]+)"', html)
    assert found
    return found[1]


def send(site: Site, path: str, **fields: Any) -> Answer:
    """A form as the pages carry it, with the token of this credential."""
    return send_form(site, path, {"token": token_on(text_of(page(site, "/memory"))), **fields})


def forms_on(html: str) -> set[str]:
    """Where forms that change something go; how a reader wants pages is nobody else's."""
    return set(re.findall(r'<form method="post" action="([^"]+)"', html)) - {"/preferences"}
