"""A Dockerfile read and carried out without Docker: its paths lie below a folder, its steps run in a shell of this machine.

Owns what of the language our Dockerfile uses; an instruction that is not known here is an error.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

#: Folders that images have and that we make; what else begins with a slash is the machine's.
_OURS = re.compile(r"(?<![\w.$}])/(opt|source|wheels|data|home/ovillo)\b")


@dataclass
class Image:
    """What a stage leaves, beside files."""

    folder: str = "/"
    user: str = "root"
    environment: dict[str, str] = field(default_factory=dict)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)
    volumes: list[str] = field(default_factory=list)
    ports: list[str] = field(default_factory=list)


def instructions(text: str) -> list[tuple[str, str]]:
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#")).replace("\\\n", " ")
    return [
        (word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines.splitlines() if line.strip())
    ]


def is_sent(path: str, ignored: str) -> bool:
    """Whether .dockerignore leaves a file of the checkout to the build: the last pattern that fits decides."""
    sent = True
    below = [path, *(str(parent) for parent in Path(path).parents)]
    for line in ignored.split():
        pattern = line.removeprefix("!")
        names = [Path(part).name for part in below] if pattern.startswith("**/") else below
        if any(fnmatch(name, pattern.removeprefix("**/")) for name in names):
            sent = line.startswith("!")
    return sent


@dataclass
class Machine:
    root: Path
    checkout: Path
    #: Found before all else: ``python`` of the base image, and what would change this machine.
    programs: Path
    #: Does a step of its own way: true when it did.
    instead: Callable[[str], bool]
    ran: list[str] = field(default_factory=list)

    def below(self, text: str) -> str:
        return _OURS.sub(lambda found: f"{self.root}{found[0]}", text)

    def build(self, text: str) -> Image:
        """The last stage."""
        image = Image()
        arguments: dict[str, str] = {}
        for word, rest in instructions(text):
            match word:
                case "FROM":
                    image, arguments = Image(), {}
                case "ARG":
                    name, _, value = rest.partition("=")
                    arguments[name] = value
                case "ENV":
                    for pair in shlex.split(rest):
                        name, _, value = pair.partition("=")
                        image.environment[name] = self.below(value.replace("$PATH", os.environ["PATH"]))
                case "WORKDIR":
                    image.folder = rest
                    Path(self.below(rest)).mkdir(parents=True, exist_ok=True)
                case "USER":
                    image.user = rest
                case "COPY":
                    self._copy(rest, image.folder)
                case "RUN":
                    self._run(rest, image, arguments)
                case "CMD":
                    image.command = json.loads(rest)
                case "HEALTHCHECK":
                    image.health = json.loads(rest[rest.index("[") :])
                case "VOLUME":
                    image.volumes.append(rest)
                case "EXPOSE":
                    image.ports.append(rest)
                case "STOPSIGNAL":
                    assert rest == "SIGTERM"
                case _:
                    raise AssertionError(f"The test does not know what {word} does.")
        return image

    def _copy(self, rest: str, folder: str) -> None:
        *sources, target = rest.split()
        if sources[0].startswith("--from="):
            # The same place in both stages: the file system is one here.
            assert sources[1:] == [target]
            assert Path(self.below(target)).exists()
            return
        ignored = (self.checkout / ".dockerignore").read_text(encoding="utf-8")
        into = Path(self.below(folder)) / target
        for source in sources:
            assert is_sent(source, ignored), f"{source} is not sent to the build"
            path = self.checkout / source
            if path.is_dir():
                left_out = shutil.ignore_patterns("__pycache__")
                shutil.copytree(path, into, ignore=left_out)
            else:
                shutil.copy(path, into)

    def _run(self, step: str, image: Image, arguments: dict[str, str]) -> None:
        self.ran.append(step)
        if self.instead(step):
            return
        subprocess.run(
            ["sh", "-ec", self.below(step)],
            cwd=self.below(image.folder) if image.folder != "/" else self.root,
            env={
                **{name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))},
                **arguments,
                **image.environment,
                "PATH": f"{self.programs}:{os.environ['PATH']}",
                "HOME": str(self.root),
            },
            check=True,
        )
