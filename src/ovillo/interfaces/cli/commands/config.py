"""``ovillo config``: effective settings and where each came from."""

from __future__ import annotations

import click

from ovillo.interfaces.cli.options import reading
from ovillo.interfaces.cli.output import print_json, tell
from ovillo.interfaces.cli.state import State
from ovillo.interfaces.cli.tables import Column, show_table
from ovillo.settings.display import shown_settings


@click.group(no_args_is_help=True)
def config() -> None:
    """Effective settings and where they came from."""


@config.command()
@reading
def show(state: State) -> None:
    """Print every setting with its value and origin; secrets are masked.

    A flag wins over the environment (OVILLO_...), the environment over ovillo.toml, the file over the default.
    """
    settings = state.settings()
    rows = shown_settings(settings)
    if state.json:
        print_json(
            {
                "settings": {x.name: {"value": x.value, "origin": x.origin, "used": x.used} for x in rows},
                "database": str(settings.database),
                "configFile": str(settings.config_file),
                "home": str(settings.home),
                "warnings": list(settings.warnings),
            }
        )
        return
    columns = (Column("setting"), Column("value"), Column("from", dim=True))
    show_table(columns, [(x.name, _words(x.value), x.origin if x.used else f"{x.origin} (not used yet)") for x in rows])
    exists = settings.config_file is not None and settings.config_file.is_file()
    tell(f"\nDatabase: {settings.database}")
    tell(f"Settings file: {settings.config_file}{'' if exists else ' (does not exist)'}")
    for warning in settings.warnings:
        tell(f"Warning: {warning}", err=True)


def _words(value: object) -> str:
    """As it would be written in the environment."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
