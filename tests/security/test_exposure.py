"""A data folder, settings and keys that other accounts can read or replace: no server opens on them.

Through the command as people type it; that another account really could is shown where root may become one.
"""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interfaces.served import environment, serving

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of files")


def started(home: Path, *flags: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """A start that has to be refused: one that is not runs into the time limit."""
    return subprocess.run(
        [sys.executable, "-m", "ovillo", "serve", "--port", "0", *flags],
        env={**environment(home), **settings},
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )


def typed(refused: subprocess.CompletedProcess[str]) -> None:
    """Types the command that the refusal names."""
    (line,) = [line for line in refused.stderr.replace("`", "\n").splitlines() if line.startswith("chmod ")]
    subprocess.run(shlex.split(line), check=True)


@pytest.mark.requirement("ACCESS-28")
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o722])
@pytest.mark.parametrize("auth", ["token", "apikey"])
def test_no_server_opens_on_a_folder_that_others_may_write_to_until_what_it_says_is_typed(
    tmp_path: Path, mode: int, auth: str
) -> None:
    data = tmp_path / "data of mine"
    data.mkdir()
    data.chmod(mode)
    where = {"OVILLO_DATA_DIR": str(data)}
    refused = started(tmp_path, "--auth", auth, **where)
    assert refused.returncode == 7, refused.stderr
    assert f"{mode:04o}" in refused.stderr
    assert list(data.iterdir()) == []
    typed(refused)
    assert stat.S_IMODE(data.stat().st_mode) & 0o077 == 0
    data.rename(tmp_path / "data")
    with serving(tmp_path, "--auth", auth) as server:
        assert server.ask("GET", "/healthz")[0] == 200


@pytest.mark.requirement("ACCESS-28")
def test_a_folder_above_that_others_may_write_to_is_as_dangerous_unless_it_is_sticky(tmp_path: Path) -> None:
    above = tmp_path / "shared"
    (above / "data").mkdir(parents=True, mode=0o700)
    above.chmod(0o777)
    refused = started(tmp_path, OVILLO_DATA_DIR=str(above / "data"))
    assert (refused.returncode, str(above) in refused.stderr) == (7, True), refused.stderr
    linked = tmp_path / "data"
    linked.symlink_to(above / "data")
    refused = started(tmp_path)
    assert (refused.returncode, str(above) in refused.stderr) == (7, True), refused.stderr
    above.chmod(0o1777)
    with serving(tmp_path) as server:
        assert server.ask("GET", "/api/sessions")[0] == 200


@pytest.mark.requirement("ACCESS-28")
def test_the_group_of_one_account_alone_is_no_other_account(tmp_path: Path) -> None:
    import grp
    import pwd

    me = pwd.getpwuid(os.geteuid())
    shared = next((group for group in grp.getgrall() if group.gr_gid != me.pw_gid), None)
    (tmp_path / "data").mkdir()
    (tmp_path / "data").chmod(0o770)
    with serving(tmp_path) as server:
        assert server.ask("GET", "/api/sessions")[0] == 200
    if os.geteuid() == 0 and shared is not None:
        os.chown(tmp_path / "data", -1, shared.gr_gid)
        assert started(tmp_path).returncode == 7


@pytest.mark.requirement("ACCESS-28")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may become another account")
def test_a_folder_of_another_account_is_refused_to_who_is_not_root(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    program = (
        "import os, grp, pwd\nfrom pathlib import Path\nfrom ovillo.security.exposure import exposures_of_folder\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        f"print(*[each.what for each in exposures_of_folder(Path({str(data)!r}))], sep='\\n')"
    )
    modes = {folder: folder.stat().st_mode for folder in [tmp_path, *tmp_path.parents[:3]]}
    for folder, mode in modes.items():
        folder.chmod(mode | 0o755)
    try:
        assert _run(program) == ""
        os.chown(data, 12345, -1)
        assert "12345" in _run(program)
    finally:
        for folder, mode in modes.items():
            folder.chmod(mode)


def _run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.mark.requirement("ACCESS-28")
def test_secrets_in_settings_and_the_key_of_the_certificate_are_for_this_account(tmp_path: Path) -> None:
    config = tmp_path / "ovillo.toml"
    config.write_text(f'auth = "jwt"\njwt_secret = "{"s" * 40}"\njwt_issuer = "me"\njwt_default_namespace = "a"\n')
    config.chmod(0o644)
    refused = started(tmp_path, OVILLO_CONFIG=str(config))
    assert refused.returncode == 7, refused.stderr
    assert "jwt_secret" in refused.stderr
    assert "s" * 40 not in refused.stderr
    typed(refused)
    config.write_text("read_only = true\n")
    config.chmod(0o666)
    refused = started(tmp_path, OVILLO_CONFIG=str(config))
    assert (refused.returncode, str(config) in refused.stderr) == (7, True), refused.stderr
    config.chmod(0o644)
    key = tmp_path / "key.pem"
    key.write_text("no key")
    key.chmod(0o644)
    files = {"OVILLO_TLS_CERTIFICATE": str(key), "OVILLO_TLS_KEY": str(key)}
    refused = started(tmp_path, OVILLO_CONFIG=str(config), **files)
    assert (refused.returncode, str(key) in refused.stderr) == (7, True), refused.stderr
    typed(refused)
    # Past this check, it is refused for being no key.
    assert started(tmp_path, OVILLO_CONFIG=str(config), **files).returncode != 7


@pytest.mark.requirement("ACCESS-28")
def test_without_access_control_the_start_tells_and_doctor_always_does(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data").chmod(0o777)
    with serving(tmp_path, "--auth", "none") as server:
        assert server.ask("GET", "/api/sessions")[0] == 200
        server.process.terminate()
        assert server.process.stderr is not None
        assert "0777" in server.process.stderr.read()
    told = subprocess.run(
        [sys.executable, "-m", "ovillo", "doctor"],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert told.returncode != 0
    assert "0777" in told.stdout
    assert "chmod" in told.stdout
