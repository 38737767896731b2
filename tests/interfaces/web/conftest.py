"""What most tests of pages start with: the demonstration, served, and a browser. A module that needs another site makes
its own under the same name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.interfaces.http.serving import Site
from tests.interfaces.web.browser import chromium
from tests.interfaces.web.sites import demo_site

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The pages over the demonstration's sessions."""
    with demo_site(tmp_path_factory.mktemp("pages")) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running
