"""Install the SDKs that the adapters are for into an environment beside ovillo's own (``make adapters``).

    .venv/bin/python scripts/install_adapters.py .venv-adapters

Every file is one whose digest stands in ``requirements-adapters.lock``. What ovillo's own environment has in the same version is
not installed a second time: the new one looks there, too.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
LOCK = HERE / "requirements-adapters.lock"
#: Its wheels carry a client of 365 MB, which no test starts.
FROM_SOURCE = "claude-agent-sdk"
#: Its session tests are in its source and in no wheel.
TESTED = "openai-agents"


def main(environment: Path) -> None:
    python = environment / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    asked: list[str | Path] = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip())
    # A path that is named in a .pth is not looked through for others: the checkout is named, too.
    (packages / "ovillo-beside.pth").write_text(f"{sysconfig.get_path('purelib')}\n{HERE / 'src'}\n", encoding="utf-8")
    pip: list[str | Path] = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    checked = ["--no-deps", "--require-hashes", "--no-build-isolation"]
    subprocess.run([*pip, "install", *checked, "--no-binary", FROM_SOURCE, "-r", LOCK], check=True)
    with tempfile.TemporaryDirectory() as folder:
        only = Path(folder) / "requirements.txt"
        only.write_text(locked(TESTED), encoding="utf-8")
        subprocess.run([*pip, "download", *checked, "--no-binary", TESTED, "-r", only, "-d", folder], check=True)
        [archive] = Path(folder).glob("*.tar.gz")
        with tarfile.open(archive) as source:
            for member in source.getmembers():
                _, _, inside = member.name.partition("/")
                if (
                    member.isfile()
                    and (inside == "pyproject.toml" or inside.startswith("tests/"))
                    and ".." not in inside
                ):
                    content = source.extractfile(member)
                    assert content is not None
                    place = environment / TESTED / inside
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_bytes(content.read())


def locked(name: str) -> str:
    """The requirement with its digests."""
    found = re.search(rf"^{re.escape(name)}==.*?(?=^\S|\Z)", LOCK.read_text(encoding="utf-8"), re.M | re.S)
    assert found is not None, f"{name} is not locked"
    return found.group()


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
