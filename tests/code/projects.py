"""Small projects to index: a copy of the shop among the fixtures, files written on the spot, git repositories."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from ovillo.model.records import DEFAULT_NAMESPACE as NS

__all__ = ["NS", "commit", "shop", "write"]


def shop(fixtures: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(fixtures / "code" / "shop", tmp_path / "shop")).resolve()


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root.resolve()


def commit(root: Path, message: str) -> None:
    """Everything there is, in a repository that is made when there is none."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    commands = [["init", "-q"]] if not (root / ".git").exists() else []
    commands += [
        ["add", "-A"],
        ["-c", "user.name=Ana", "-c", "user.email=a@example.org", "commit", "-q", "-m", message],
    ]
    for arguments in commands:
        subprocess.run(["git", *arguments], cwd=root, check=True, env=environment, capture_output=True)
