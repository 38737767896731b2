"""The token of this user: made by itself, asked for everywhere, for the owner's account only. From outside, with real processes."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.interfaces.http.serving import Answer, Site, process

_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
_MCP = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def site(home: Path) -> Iterator[Site]:
    with process(home) as (_, running):
        yield running


@pytest.fixture(scope="module")
def stranger(site: Site) -> Site:
    """The same server, asked without a credential."""
    return Site(site.host)


def ovillo(home: Path, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "OVILLO_DATA_DIR": str(home / "data")}
    command = [sys.executable, "-m", "ovillo", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=check, timeout=60)


def token_of(home: Path) -> str:
    return (home / "data" / "token").read_text().strip()


@pytest.mark.requirement("ACCESS-20")
def test_nobody_comes_in_unasked_whatever_the_path_and_body(stranger: Site) -> None:
    for method, path, body in (
        ("GET", "/api/sessions", None),
        ("POST", "/api/sessions", b"{not json"),
        ("GET", "/nothing/here", None),
        ("PATCH", "/api/sessions", None),
        ("POST", "/mcp", _INITIALIZE),
        ("GET", "/mcp", None),
        ("POST", "/mcp/v1/execute", {"tool": "list_sessions"}),
        ("POST", "/api/knowledge", {"paths": ["/etc/passwd"]}),
        ("GET", "/api/changes", None),
        ("GET", "/metrics", None),
    ):
        answer = stranger.ask(method, path, body)
        assert (answer.status, answer.json["code"]) == (401, "unauthorized"), (method, path)
        assert "ovillo key token" in answer.json["hint"]
    for path in ("/ws", "/mcp/ws"):
        with pytest.raises(InvalidStatus) as refused:
            connect(f"ws://{stranger.host}{path}")
        assert refused.value.response.status_code == 401
    for path in ("/healthz", "/readyz", "/openapi.json", "/docs"):
        assert stranger.ask("GET", path).status in {200, 503}


@pytest.mark.requirement("ACCESS-20")
def test_the_token_lets_in_by_either_header_and_over_sockets_and_mcp(site: Site, stranger: Site, home: Path) -> None:
    token = token_of(home)
    assert re.fullmatch(r"ovt_[a-z2-7]{52}", token)
    for headers in ({"Authorization": f"Bearer {token}"}, {"X_API_Key": token}):
        assert stranger.ask("GET", "/api/sessions", **headers).status == 200
    assert stranger.ask("POST", "/mcp", _INITIALIZE, **site.credential, **_MCP).status == 200
    for path in ("/ws", "/mcp/ws"):
        with connect(f"ws://{site.host}{path}", additional_headers=site.credential):
            pass
        with connect(f"ws://{site.host}{path}", subprotocols=["ovillo", f"ovillo.bearer.{token}"]):  # type: ignore[list-item]
            pass
    for wrong in (
        f"Bearer {token[:-1]}",
        f"Bearer {token}x",
        f"Basic {token}",
        "Bearer ovt_",
        f"Bearer {'ovt_' + 'a' * 52}",
    ):
        refused = stranger.ask("GET", "/api/sessions", Authorization=wrong)
        assert refused.status == 401
        assert token not in f"{refused.body!r}{refused.headers}"
    assert stranger.ask("GET", f"/api/sessions?token={token}&access_token={token}").status == 401


@pytest.mark.requirement("ACCESS-21")
def test_token_and_address_are_files_of_this_account_alone(site: Site, home: Path) -> None:
    data = home / "data"
    (said,) = (data / "servers").glob("*.json")
    for path, mode in ((data, 0o700), (data / "token", 0o600), (data / "servers", 0o700), (said, 0o600)):
        assert stat.S_IMODE(path.stat().st_mode) == mode, path
    assert token_of(home) not in said.read_text()


@pytest.mark.requirement("ACCESS-21")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may become another account")
def test_another_account_reads_no_token_and_gets_no_answer(site: Site, home: Path) -> None:
    # Even when the folders above let everybody through.
    modes = {folder: folder.stat().st_mode for folder in [home / "data", home, *home.parents[:3]]}
    for folder, mode in modes.items():
        folder.chmod(mode | 0o755)
    try:
        host, _, port = site.host.rpartition(":")
        program = f"""
import encodings.idna, http.client, os
os.setgroups([]); os.setgid(65534); os.setuid(65534)
for name in ("token", "servers/x", "servers"):
    try:
        (os.listdir if name == "servers" else open)("{home}/data/" + name)
        print("READ", name)
    except PermissionError:
        pass
asking = http.client.HTTPConnection("{host}", {port}, timeout=20)
asking.request("GET", "/api/sessions")
print(asking.getresponse().status)
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
        assert (done.stdout.strip(), done.stderr) == ("401", "")
    finally:
        for folder, mode in modes.items():
            folder.chmod(mode)


@pytest.mark.requirement("ACCESS-21")
def test_a_token_that_others_may_read_is_refused_at_the_start_and_renewed(tmp_path: Path) -> None:
    ovillo(tmp_path, "key", "token")
    file = tmp_path / "data" / "token"
    old = file.read_text()
    file.chmod(0o644)
    for arguments in (("serve", "--port", "0"), ("key", "token")):
        refused = ovillo(tmp_path, *arguments, check=False)
        assert refused.returncode == 7
        assert "0644" in refused.stderr
        assert "ovillo key token --renew" in refused.stderr
    assert ovillo(tmp_path, "key", "token", "--renew").stdout != old
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.unlink()
    planted = tmp_path / "planted"
    planted.write_text(old)
    file.symlink_to(planted)
    refused = ovillo(tmp_path, "serve", "--port", "0", check=False)
    assert (refused.returncode, old.strip() in refused.stderr) == (7, False)


@pytest.mark.requirement("ACCESS-22")
def test_no_line_of_a_server_holds_the_token_and_all_lines_that_attach_name_the_command(tmp_path: Path) -> None:
    with process(tmp_path, OVILLO_LOG_LEVEL="debug") as (running, site):
        assert site.ask("GET", "/api/sessions").status == 200
        assert (
            Site(site.host).ask("GET", "/api/sessions", Authorization=f"Bearer {token_of(tmp_path)[:-1]}").status == 401
        )
        link = ovillo(tmp_path, "open", "--print").stdout
        ticket = link.partition("ticket=")[2].strip()
        assert site.ask("GET", link.partition(site.host)[2].strip()).status == 200
        running.send_signal(signal.SIGTERM)
        assert running.stderr is not None
        said = running.stderr.read()
    assert token_of(tmp_path)[4:-1] not in said
    assert ticket not in said
    for client in ("claude mcp add --transport http", "codex mcp add", "gemini mcp add", "opencode.json"):
        assert client in said
    # The command works in any shell of this account, whatever it has set.
    commands = set(re.findall(r"\$\(([^)]+)\)", said))
    assert len(commands) == 1
    shown = subprocess.run(
        ["sh", "-c", commands.pop()],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path / "elsewhere")},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert shown.stdout.strip() == token_of(tmp_path)


@pytest.mark.requirement("ACCESS-22")
def test_a_new_token_ends_the_old_one_and_its_cookies_and_links_within_a_second(home: Path, tmp_path: Path) -> None:
    with process(tmp_path) as (_, site):
        old = dict(site.credential)
        cookie = _cookie(site, _link(tmp_path))
        unused = _link(tmp_path)
        with connect(f"ws://{site.host}/ws", additional_headers=old):
            new = ovillo(tmp_path, "key", "token", "--renew").stdout.strip()
        _until(lambda: Site(site.host).ask("GET", "/api/sessions", **old).status == 401)
        assert Site(site.host).ask("GET", "/api/sessions", Authorization=f"Bearer {new}").status == 200
        assert Site(site.host).ask("GET", "/api/sessions", Cookie=cookie).status == 401
        assert Site(site.host).ask("GET", unused).status == 403


# --- finding the server


@pytest.mark.requirement("ACCESS-23")
def test_open_says_when_no_server_runs_and_finds_the_one_that_does(tmp_path: Path) -> None:
    nobody = ovillo(tmp_path, "open", "--print", check=False)
    assert (nobody.returncode, nobody.stdout) == (4, "")
    assert "ovillo serve" in nobody.stderr
    with process(tmp_path) as (_, first), process(tmp_path) as (_, second):
        newest = json.loads(ovillo(tmp_path, "open", "--json").stdout)
        assert newest["server"] == second.url
        port = first.host.rpartition(":")[2]
        assert ovillo(tmp_path, "open", "--print", "--port", port).stdout.startswith(f"{first.url}/open?ticket=")
        assert ovillo(tmp_path, "open", "--print", "--port", "1", check=False).returncode == 4


@pytest.mark.requirement("ACCESS-23")
def test_a_killed_server_is_not_taken_for_a_running_one(tmp_path: Path) -> None:
    with process(tmp_path) as (running, site):
        running.kill()
        running.wait(20)
        # Somebody else listens at its address now; the token must not go there.
        host, _, port = site.host.rpartition(":")
        with socket.create_server((host, int(port))):
            assert ovillo(tmp_path, "open", "--print", check=False).returncode == 4
    assert not list((tmp_path / "data" / "servers").iterdir())


@pytest.mark.requirement("ACCESS-23")
def test_a_server_that_ended_in_order_leaves_nothing_behind(tmp_path: Path) -> None:
    with process(tmp_path) as (running, site):
        assert site.ask("GET", "/healthz").status == 200
        running.send_signal(signal.SIGTERM)
        assert running.wait(30) == 0
    assert not list((tmp_path / "data" / "servers").iterdir())


# --- the browser


def _link(home: Path, *options: str) -> str:
    """Its path."""
    return "/" + ovillo(home, "open", "--print", *options).stdout.strip().partition("://")[2].partition("/")[2]


def _cookie(site: Site, link: str, **headers: str) -> str:
    answer = Site(site.host).ask("GET", link, **headers)
    assert answer.status == 200, answer.body
    return answer.headers["set-cookie"].partition(";")[0]


def _until(holds: Any) -> None:
    for _ in range(2_000):
        if holds():
            return
    raise AssertionError("never")


@pytest.mark.requirement("ACCESS-24")
@pytest.mark.parametrize("site_header", [None, "none", "cross-site", "same-site"])
def test_a_link_opened_from_anywhere_becomes_a_cookie_once(
    site: Site, stranger: Site, home: Path, site_header: str | None
) -> None:
    headers = {} if site_header is None else {"Sec_Fetch_Site": site_header, "Sec_Fetch_Mode": "navigate"}
    link = _link(home)
    answer = stranger.ask("GET", link, **headers)
    assert answer.status == 200
    port = site.host.rpartition(":")[2]
    cookie, *marks = answer.headers["set-cookie"].split("; ")
    assert cookie.startswith(f"ovillo_{port}=")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(marks)
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    # The page goes on by itself, so that the browser sends a Strict cookie along whoever opened the link.
    assert b'http-equiv="refresh" content="0; url=/sessions"' in answer.body
    for secret in (token_of(home), token_of(home)[4:]):
        assert secret not in f"{link}{answer.headers}{answer.body!r}"
    assert stranger.ask("GET", "/api/sessions", Cookie=cookie, Sec_Fetch_Site="same-origin").status == 200
    again = stranger.ask("GET", link, **headers)
    assert (again.status, "set-cookie" in again.headers) == (403, False)
    assert b"used already" in again.body


@pytest.mark.requirement("ACCESS-24")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may become another account")
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_another_account_that_saw_the_link_cannot_use_it_nor_use_it_up(tmp_path: Path, host: str) -> None:
    with process(tmp_path, "--host", host) as (_, site):
        link = _link(tmp_path)
        assert _asked_by_another_account(site, link) == "403 None"
        # Nor the cookie, which a browser may have sent to a server of theirs at another port.
        cookie = _cookie(site, link)
        assert _asked_by_another_account(site, "/api/sessions", cookie) == "401 None"
        assert Site(site.host).ask("GET", "/api/sessions", Cookie=cookie).status == 200


@pytest.mark.requirement("ACCESS-24")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may become another account")
@pytest.mark.parametrize("ending", ["close", "reset", "shutdown"])
def test_another_account_cannot_use_a_cookie_by_leaving_at_once(tmp_path: Path, ending: str) -> None:
    with process(tmp_path) as (_, site):
        host, _, port = site.host.rpartition(":")
        cookie = _cookie(site, _link(tmp_path))
        mine = Site(site.host, credential={"Authorization": f"Bearer {token_of(tmp_path)}"})
        for number in range(5):
            assert mine.ask("POST", "/api/sessions", {"id": f"kept{number}", "name": "kept"}).status == 201
        program = f"""
import encodings.idna, os, socket, struct
os.setgroups([]); os.setgid(65534); os.setuid(65534)
for number in range(5):
    asking = socket.create_connection(("{host}", {port}))
    asking.sendall(
        f"DELETE /api/sessions/kept{{number}} HTTP/1.1\\r\\nHost: {site.host}\\r\\nCookie: {cookie}\\r\\n"
        "Sec-Fetch-Site: same-origin\\r\\n\\r\\n".encode()
    )
    if "{ending}" == "shutdown":
        asking.shutdown(socket.SHUT_WR)
        asking.recv(65536)
    if "{ending}" == "reset":
        asking.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    asking.close()
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
        assert done.stderr == ""
        # What follows on the same server is answered after what came before it was taken up.
        assert _asked_by_another_account(site, "/api/sessions", cookie) == "401 None"
        left = [mine.ask("GET", f"/api/sessions/kept{number}").status for number in range(5)]
        assert left == [200] * 5


def _asked_by_another_account(site: Site, path: str, cookie: str = "") -> str:
    program = f"""
import encodings.idna, http.client, os
os.setgroups([]); os.setgid(65534); os.setuid(65534)
asking = http.client.HTTPConnection("{site.host}", timeout=20)
asking.request("GET", "{path}", headers={{"Cookie": "{cookie}"}})
answer = asking.getresponse()
print(answer.status, answer.getheader("set-cookie"))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.mark.requirement("ACCESS-24")
def test_a_link_is_for_one_server_and_is_not_used_up_by_a_look_nor_forged(
    site: Site, stranger: Site, home: Path, tmp_path: Path
) -> None:
    link = _link(home, "/docs?x=1")
    assert stranger.ask("HEAD", link).status == 204
    assert stranger.ask("GET", link, Sec_Purpose="prefetch").status == 204
    with process(home) as (_, other):
        assert Site(other.host).ask("GET", link).status == 403
    head, _, signature = link.rpartition(".")
    for forged in (
        f"{head}.{signature[::-1]}",
        f"{head}.",
        f"{link}.x",
        "/open",
        "/open?ticket=a.b.c.d",
        "/open?ticket=é",
    ):
        answer = stranger.ask("GET", forged.replace("é", "%C3%A9"))
        assert (answer.status, "set-cookie" in answer.headers) == (403, False), forged
    assert b"url=/docs?x=1" in stranger.ask("GET", link).body
    for page in ("//evil.example/", "https://evil.example/", "docs", "/\\evil.example"):
        # Without a slash it would be a session, which there is not.
        refused = ovillo(home, "open", "--print", page, check=False)
        assert (refused.returncode, refused.stdout) == (2 if page.startswith("/") else 4, "")


@pytest.mark.requirement("ACCESS-25")
def test_a_cookie_counts_for_pages_of_this_server_only(site: Site, stranger: Site, home: Path) -> None:
    cookie = _cookie(site, _link(home))

    def status(method: str, **headers: str) -> int:
        return stranger.ask(
            method, "/api/sessions", {"name": "x"} if method == "POST" else None, Cookie=cookie, **headers
        ).status

    own = f"http://{site.host}"
    assert status("GET") == status("GET", Sec_Fetch_Site="none") == 200
    assert status("POST", Origin=own) == status("POST", Origin=own, Sec_Fetch_Site="same-origin") == 201
    assert status("POST", Sec_Fetch_Site="same-origin") == 201
    for headers in (
        {},
        {"Sec_Fetch_Site": "none"},
        {"Sec_Fetch_Site": "same-site"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-origin", "Origin": "http://localhost:3000"},
        {"Origin": "http://localhost:3000"},
        {"Origin": f"http://{site.host}0"},
        {"Origin": "null"},
    ):
        assert status("POST", **headers) == 403, headers
    assert status("GET", Origin="http://localhost:3000") == 403
    for path in ("/ws", "/mcp/ws"):
        with connect(f"ws://{site.host}{path}", origin=own, additional_headers={"Cookie": cookie}):  # type: ignore[arg-type]
            pass
        for foreign in (None, "http://localhost:3000"):
            with pytest.raises(InvalidStatus) as refused:
                connect(f"ws://{site.host}{path}", origin=foreign, additional_headers={"Cookie": cookie})  # type: ignore[arg-type]
            assert refused.value.response.status_code == 403


@pytest.mark.requirement("ACCESS-25")
def test_a_cookie_is_bound_to_its_port_and_cannot_be_made_up(site: Site, stranger: Site, home: Path) -> None:
    cookie = _cookie(site, _link(home))
    name, _, value = cookie.partition("=")

    def asked(cookie: str) -> Answer:
        return stranger.ask("GET", "/api/sessions", Cookie=cookie)

    assert asked(f"a=b; {name}=other; {cookie}").status == 200
    ends, nonce, signature = value.split(".")
    for wrong in (
        f"{name}={int(ends) + 1}.{nonce}.{signature}",
        f"{name}={ends}.{nonce}.{signature[:-1]}",
        f"{name}=",
        f"{name}={token_of(home)}",
        f"x{cookie}",
    ):
        assert asked(wrong).status == 401, wrong
    assert stranger.ask("GET", "/api/sessions", Authorization=f"Bearer {cookie}").status == 401
    with process(home) as (_, other):
        renamed = f"ovillo_{other.host.rpartition(':')[2]}={value}"
        assert Site(other.host).ask("GET", "/api/sessions", Cookie=renamed).status == 401


# --- without access control


@pytest.mark.requirement("ACCESS-26")
def test_without_access_control_the_start_says_what_is_open_and_no_new_path_is_taken(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder in (ours, theirs):
        folder.mkdir()
        (folder / "shop.py").write_text("def till():\n    return 'the code of the safe'\n")
        (folder / "note.md").write_text("# Safe\n\nThe code of the safe is on the back of the clock.\n")
    ovillo(tmp_path, "code", "index", str(ours))
    ovillo(tmp_path, "knowledge", "add", str(ours / "note.md"))
    with process(tmp_path, "--auth", "none") as (running, site):
        assert site.credential == {}
        assert running.stderr is not None
        said = running.stderr.readline() + running.stderr.readline()
        assert "every account" in said
        assert "sandbox" in said
        for folder, status in ((ours, 200), (theirs, 404)):
            assert site.ask("POST", "/api/code/index", {"path": str(folder)}).status == status
        for odd in (f"{ours}/../theirs", f"{ours}/", str(tmp_path), "/", "."):
            assert site.ask("POST", "/api/code/index", {"path": odd}).status == 404 or odd.endswith("ours/")
        assert site.ask("POST", "/api/knowledge", {"paths": [str(ours / "note.md")]}).status == 200
        for new in ([str(theirs / "note.md")], [str(ours / "*.md")], [str(ours / "note.md"), str(theirs)], [str(ours)]):
            assert site.ask("POST", "/api/knowledge", {"paths": new}).status == 403
        # Nor by a session that says it works there, over any way of calling the tool.
        site.ask("POST", "/api/sessions", {"id": "planted", "name": "planted", "directory": str(theirs)})
        for tool in ({"path": str(theirs)}, {}):
            call = {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "execute",
                "params": {"tool": "index_code", "parameters": tool},
            }
            answer = site.ask("POST", "/mcp/v1/execute", call).json["result"]
            assert str(theirs) not in json.dumps(answer.get("structuredContent") or {})
        roots = site.ask("GET", "/api/code/roots").json["roots"]
        assert [root["path"] for root in roots] == [str(ours)]
        assert "code of the safe" in site.ask("GET", "/api/code/symbol?name=till&source=true").body.decode()


@pytest.mark.requirement("ACCESS-26")
def test_with_the_token_paths_are_added_as_by_command(site: Site, home: Path) -> None:
    folder = home / "project"
    folder.mkdir()
    (folder / "a.py").write_text("def found():\n    return 1\n")
    (folder / "a.md").write_text("# A\n\nText.\n")
    assert site.ask("POST", "/api/code/index", {"path": str(folder)}).status == 200
    assert site.ask("POST", "/api/knowledge", {"paths": [str(folder / "a.md")]}).status == 200
