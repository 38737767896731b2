"""Renews what the pages carry of others: ``src/ovillo/interfaces/web/static/vendor`` and its lock.

Owns the list of packages and files. The packages come from npm with their digests; the lock says name, version, file,
SHA-256 and licence of each. A test compares files and lock; this program is run by hand when a version changes.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VENDOR = Path(__file__).parent.parent / "src" / "ovillo" / "interfaces" / "web" / "static" / "vendor"
#: package, version, licence (SPDX), files of it
PACKAGES = (
    ("htmx.org", "4.0.1", "0BSD", ("dist/htmx.min.js",)),
    ("uplot", "1.6.32", "MIT", ("dist/uPlot.iife.min.js", "dist/uPlot.min.css")),
)


def main() -> int:
    lock = []
    with tempfile.TemporaryDirectory() as folder:
        for package, version, licence, files in PACKAGES:
            packed = subprocess.run(
                ["npm", "pack", "--silent", f"{package}@{version}"],
                cwd=folder,
                check=True,
                capture_output=True,
                text=True,
            )
            with tarfile.open(Path(folder) / packed.stdout.strip()) as archive:
                for file in files:
                    member = archive.extractfile(f"package/{file}")
                    assert member is not None, f"{package} has no {file}"
                    data = member.read()
                    name = Path(file).name
                    (VENDOR / name).write_bytes(data)
                    digest = hashlib.sha256(data).hexdigest()
                    entry = {"file": name, "package": package, "version": version, "licence": licence, "sha256": digest}
                    lock.append(entry)
    (VENDOR / "vendor.lock").write_text(json.dumps(lock, indent=1) + "\n")
    print(f"{len(lock)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
