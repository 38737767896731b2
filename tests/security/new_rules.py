"""A package with a rule for secrets of its own, as if it were installed: what a new version of the rules would know.

Owns laying it out. Its secrets look like nothing that ovillo's own rules know.
"""

from __future__ import annotations

import random
from pathlib import Path

_MODULE = """
import re
def find(text):
    return [(found.start(), found.end(), "house_secret") for found in re.finditer(r"(?i)zq[bcdfgh]{14}", text)]
"""


def house_secret(seed: int) -> str:
    """A word, so that it can stand in every name and in every text."""
    return "zq" + "".join(random.Random(seed).choices("bcdfgh", k=14))


def install(folder: Path, version: str = "1.0") -> Path:
    """What ``PYTHONPATH`` has to hold."""
    described = folder / f"house_rules-{version}.dist-info"
    described.mkdir(parents=True)
    (folder / "house_rules.py").write_text(_MODULE, "utf-8")
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: house-rules\nVersion: {version}\n", "utf-8")
    (described / "entry_points.txt").write_text("[ovillo.redactors]\nhouse = house_rules:find\n", "utf-8")
    return folder
