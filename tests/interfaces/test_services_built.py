"""The bundle of services: each can be built, and is built once."""

from __future__ import annotations

from pathlib import Path

from ovillo.app import _BUILDERS, open_services
from ovillo.settings import Settings


def test_every_service_can_be_built_and_is_built_once(tmp_path: Path) -> None:
    services = open_services(Settings(data_dir=tmp_path / "data", home=tmp_path, embedder="none", watch=False))
    try:
        built = {name: getattr(services, name) for name in _BUILDERS}
        assert [name for name, service in built.items() if getattr(services, name) is not service] == []
    finally:
        services.close()
