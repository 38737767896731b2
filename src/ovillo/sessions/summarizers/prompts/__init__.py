"""What a model is asked for, by template name: one text file each. Owns finding and reading them only.

``general`` is the prompt of SPEC-015 4.5, ``development_cycle`` the one the v6 roadmap names (Feature 1).
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from ovillo.model.errors import NotFound


@cache
def template_names() -> tuple[str, ...]:
    found = (item.name.removesuffix(".txt") for item in files(__package__).iterdir() if item.name.endswith(".txt"))
    return tuple(sorted(found))


@cache
def template(name: str) -> str:
    """The template's text. Raises NotFound with the nearest names."""
    if name not in template_names():
        raise NotFound.named(
            "summary prompt", name, template_names(), hint=f"There are: {', '.join(template_names())}."
        )
    return files(__package__).joinpath(f"{name}.txt").read_text(encoding="utf-8").strip()
