"""Fails when a source file outgrows the house rule: 600 lines without a written reason, 1,000 never.

A file past 600 lines usually hides a second job. Where it truly does not, it is listed here with its reason.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = {".py", ".sql", ".sh", ".toml", ".js", ".css"}
#: Not source of ours: histories of real agents, kept byte for byte.
DATA = ("tests/fixtures/", "src/ovillo/demo/history/")
SOFT, HARD = 600, 1000

#: path -> why it is longer than 600 lines
EXCEPTIONS: dict[str, str] = {
    "tests/requirements.py": "one table: a line a promised behaviour",
}


def source_files() -> list[Path]:
    """Files of the project, those not yet committed included; ignored ones left out."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:  # an unpacked source archive has no git
        names = [
            str(p.relative_to(ROOT)) for top in ("src", "tests", "bench", "scripts") for p in (ROOT / top).rglob("*")
        ]
    return [ROOT / n for n in names if Path(n).suffix in SUFFIXES and not n.startswith(DATA) and (ROOT / n).is_file()]


def main() -> int:
    problems = []
    for path in source_files():
        name = path.relative_to(ROOT).as_posix()
        lines = path.read_bytes().count(b"\n")
        if lines > HARD:
            problems.append(f"{name}: {lines} lines; more than {HARD} is never allowed: split it")
        elif lines > SOFT and name not in EXCEPTIONS:
            problems.append(f"{name}: {lines} lines; split it, or list it with its reason in {Path(__file__).name}")
    problems += [f"{name}: listed as an exception but not there" for name in EXCEPTIONS if not (ROOT / name).exists()]
    print("\n".join(problems) if problems else "File sizes: all within 600 lines.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
