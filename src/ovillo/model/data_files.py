"""Data files that stand beside a module: word lists, prompts, migrations.

Owns finding them. ``importlib.resources`` could read them out of an archive, too, where ovillo never is (it has extension
modules as dependencies), and costs each start of a command 5 ms.
"""

from __future__ import annotations

from pathlib import Path


def beside(module_file: str, name: str = "") -> Path:
    """``module_file`` is the ``__file__`` of the module; without a name, its folder."""
    return Path(module_file).parent / name


def text_beside(module_file: str, name: str) -> str:
    return beside(module_file, name).read_text(encoding="utf-8")
