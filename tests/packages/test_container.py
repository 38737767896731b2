"""Dockerfile and compose file, their steps done without Docker: in folders of their own, with the user, the command and the health
check that they name."""

from __future__ import annotations

import http.client
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ovillo.model.installation import IMAGE_MARK
from tests.packages.dockerfile import Image, Machine, instructions, is_sent

ROOT = Path(__file__).parents[2]
_TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
_INSTALLS = "OVILLO_REQUIRE_INSTALLS" in os.environ
#: An account that has no rights to anything here.
_NOBODY = 65_534
_PATIENCE_S = 60

pytestmark = pytest.mark.skipif(os.name != "posix", reason="its steps are of a shell")


def is_for_everybody(path: Path) -> bool:
    return all(folder.stat().st_mode & 0o001 for folder in path.resolve().parents)


def python_for_everybody() -> Path:
    """A Python of the tests' version that another account can run, else theirs."""
    own = Path(os.path.realpath(sys.executable))
    system = Path("/usr/bin") / f"python{sys.version_info.major}.{sys.version_info.minor}"
    return own if is_for_everybody(own) or not system.exists() else system


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    # Not below the folder of the tests, which is closed to others.
    root = Path(tempfile.mkdtemp(prefix="ovillo-image-"))
    root.chmod(0o755)
    programs = root / "programs"
    programs.mkdir()
    (root / "home").mkdir()
    python = shlex.quote(str(python_for_everybody()))
    lent = "" if _INSTALLS else "--without-pip "
    (programs / "python").write_text(
        f'#!/bin/sh\n[ "$1 $2" = "-m venv" ] && shift 2 && set -- -m venv {lent}"$@"\nexec {python} "$@"\n'
    )
    for name in ("useradd", "chown"):
        # Accounts of this machine stay as they are.
        (programs / name).write_text(f'#!/bin/sh\necho "{name} $@" >>{shlex.quote(str(root / "accounts"))}\n')
    for program in programs.iterdir():
        program.chmod(0o755)
    # Folders that the base image has.
    for folder in ("opt", "home/ovillo"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    yield Machine(root, ROOT, programs, lambda step: False)
    shutil.rmtree(root)


@pytest.fixture(scope="module")
def image(machine: Machine) -> Image:
    if not _INSTALLS:
        machine.instead = lambda step: lend(machine, step)
    return machine.build(_TEXT)


def lend(machine: Machine, step: str) -> bool:
    """Nobody is asked for packages: those of the tests' environment are lent, and pip is theirs."""
    words = step.split()
    environment = Path(machine.below(words[0])).parent.parent
    if "--require-hashes" in words:
        (packages,) = (environment / "lib").glob("python*/site-packages")
        (packages / "lent.pth").write_text(next(path for path in sys.path if path.endswith("site-packages")) + "\n")
        return True
    if words[0].endswith("/pip"):
        python = environment / "bin" / "python"
        rest = machine.below(step).partition(" install ")[2]
        pip = f"{shlex.quote(sys.executable)} -m pip --python {shlex.quote(str(python))} install --quiet {rest}"
        subprocess.run(["sh", "-ec", pip], check=True)
        return True
    return False


@pytest.mark.timeout(900)
@pytest.mark.requirement("PACK-12")
def test_the_image_is_made_by_its_steps_and_runs_as_a_user_without_rights(machine: Machine, image: Image) -> None:
    assert (machine.root / "opt" / "ovillo" / IMAGE_MARK).exists()
    accounts = (machine.root / "accounts").read_text().splitlines()
    assert accounts[0] == "useradd --uid 1000 --create-home ovillo"
    assert accounts[1] == f"chown 1000 {machine.root}/data"
    assert (image.user, image.volumes, image.ports) == ("ovillo", ["/data"], ["8765"])
    assert (machine.root / "data").stat().st_mode & 0o777 == 0o700
    installs = [step for step in machine.ran if "pip install" in step]
    unchecked = [step for step in installs if "--require-hashes" not in step]
    assert ["--no-deps --no-index /wheels/" in step for step in unchecked] == [True]


class Running:
    """The image's command, as its user, on a port of its own."""

    def __init__(self, machine: Machine, image: Image) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._machine, self._image = machine, image
        data = machine.root / "data"
        if os.geteuid() == 0 and is_for_everybody(python_for_everybody()):
            self._account: dict[str, Any] = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
            for folder in (data, machine.root / "home" / "ovillo"):
                os.chown(folder, _NOBODY, _NOBODY)
        else:
            self._account = {}
        self.process = self._start(image.command)

    @property
    def environment(self) -> Mapping[str, str]:
        home = str(self._machine.root / "home" / "ovillo")
        return {**self._image.environment, "HOME": home, "OVILLO_PORT": str(self.port), "OVILLO_EMBEDDER": "none"}

    @property
    def account(self) -> int:
        return int(self._account.get("user", os.geteuid()))

    def _start(self, command: list[str]) -> subprocess.Popen[bytes]:
        program = shutil.which(command[0], path=self._image.environment["PATH"])
        assert program is not None
        return subprocess.Popen(
            [program, *(word.replace("8765", str(self.port)) for word in command[1:])],
            env=self.environment,
            cwd=self._machine.below(self._image.folder),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            **self._account,
        )

    def run(self, *command: str) -> tuple[int, str]:
        process = self._start(list(command))
        said, _ = process.communicate(timeout=_PATIENCE_S)
        return process.returncode, said.decode()

    def is_healthy(self) -> bool:
        return self.run(*self._image.health)[0] == 0

    def ask(self, **headers: str) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE_S)
        try:
            connection.request("GET", "/api/sessions", headers=headers)
            return connection.getresponse().status
        finally:
            connection.close()


@pytest.mark.timeout(900)
@pytest.mark.requirement("PACK-12")
def test_the_command_of_the_image_serves_is_healthy_answers_to_keys_and_ends_when_told(
    machine: Machine, image: Image
) -> None:
    running = Running(machine, image)
    try:
        until = time.monotonic() + _PATIENCE_S
        while not running.is_healthy():
            assert running.process.poll() is None, running.process.communicate()[0].decode()
            assert time.monotonic() < until
        assert running.ask() == 401
        code, said = running.run("ovillo", "key", "create", "--name", "me", "--role", "writer")
        assert code == 0, said
        assert running.ask(Authorization=f"Bearer {said.split()[0]}") == 200
        database = machine.root / "data" / "ovillo.db"
        assert (database.stat().st_mode & 0o777, database.stat().st_uid) == (0o600, running.account)
        _, said = running.run("ovillo", "doctor")
        assert "in a container image" in said
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(_PATIENCE_S) in {0, -signal.SIGTERM}
        assert not running.is_healthy()
    finally:
        running.process.kill()
        running.process.communicate()


@pytest.mark.requirement("PACK-12")
def test_nothing_but_what_the_image_is_made_of_is_sent_to_the_build() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8")
    copied = {
        word
        for name, rest in instructions(_TEXT)
        if name == "COPY" and "--from" not in rest
        for word in rest.split()[:-1]
    }
    assert [name for name in sorted(copied) if not is_sent(name, ignored)] == []
    there = [path.name for path in ROOT.iterdir()]
    assert sorted(name for name in there if is_sent(name, ignored)) == sorted(copied)
    assert not is_sent("src/ovillo/__pycache__/app.pyc", ignored)
    assert is_sent("src/ovillo/app.py", ignored)


@pytest.mark.requirement("PACK-12")
def test_the_compose_file_opens_the_server_to_this_machine_only_and_takes_rights_away() -> None:
    yaml = pytest.importorskip("yaml")
    service = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]["ovillo"]
    assert service["build"] == {"context": ".", "args": {"UID": "${UID:-1000}"}}
    assert service["ports"] == ["127.0.0.1:8765:8765"]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "data:/data" in service["volumes"]
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    mounted = [line for line in text.splitlines() if "# - ${HOME}" in line]
    assert len(mounted) == 4
    assert [line for line in mounted if not line.endswith(":ro")] == []
