"""``ovillo key``, and what it promises to a running server."""

from __future__ import annotations

from pathlib import Path

import pytest

from ovillo.model.clock import from_iso
from ovillo.security.redaction import Redactor
from tests.interfaces.cli_runs import CommandLine
from tests.interfaces.http.serving import process


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(capsys, tmp_path, tmp_path / "data")


@pytest.mark.requirement("ACCESS-6")
def test_a_key_is_shown_once_and_listed_without_it(cli: CommandLine) -> None:
    made = cli.run("key", "create", "--name", "Ana", "--namespace", "team", "--role", "reader", "--json").json()
    assert made["key"].startswith(f"ovk_{made['id']}_")
    assert (made["namespace"], made["role"], made["scopes"]) == ("team", "reader", ["context:read", "history:read"])
    for listing in (cli.run("key", "list"), cli.run("key", "list", "--json")):
        assert made["id"] in listing.out
        assert made["key"] not in listing.out
        assert made["key"].rpartition("_")[2] not in listing.out


@pytest.mark.requirement("ACCESS-6")
def test_the_key_alone_is_on_standard_output(cli: CommandLine) -> None:
    made = cli.run("key", "create")
    assert made.out.startswith("ovk_")
    assert made.out.count("\n") == 1
    assert "writer in namespace default" in made.err


@pytest.mark.requirement("ACCESS-5", "ACCESS-6")
def test_scopes_may_be_named_one_by_one(cli: CommandLine) -> None:
    made = cli.run("key", "create", "--scope", "admin", "--scope", "history:read,context:read", "--json").json()
    assert made["role"] is None
    assert made["scopes"] == ["admin", "context:read", "history:read"]
    assert cli.run("key", "create", "--scope", "admin", "--role", "reader").code == 2
    assert "Did you mean 'history:read'" in cli.run("key", "create", "--scope", "history:reed").err


@pytest.mark.requirement("ACCESS-4", "ACCESS-6")
def test_an_end_is_a_length_of_time_or_a_moment(cli: CommandLine) -> None:
    made = cli.run("key", "create", "--expires", "90d", "--json").json()
    lasts = (from_iso(made["expiresAt"]) or 0) - (from_iso(made["createdAt"]) or 0)
    assert round(lasts / 86_400_000, 3) == 90
    assert cli.run("key", "create", "--expires", "2199-01-31", "--json").json()["expiresAt"].startswith("2199-01-31T")
    for wrong in ("yesterday", "2001-01-01", "0d", "-1d", "99999999d"):
        assert cli.run("key", "create", "--expires", wrong).code == 2, wrong


@pytest.mark.requirement("ACCESS-4", "ACCESS-6")
def test_a_rotated_key_goes_on_for_the_overlap(cli: CommandLine) -> None:
    old = cli.run("key", "create", "--name", "Ana", "--json").json()
    new = cli.run("key", "rotate", "Ana", "--overlap", "2h", "--json").json()
    assert new["replaces"]["id"] == old["id"]
    assert new["replaces"]["state"] == "live"
    assert new["scopes"] == old["scopes"]
    assert cli.run("key", "rotate", "Ana").code == 2
    ended = cli.run("key", "rotate", new["id"], "--overlap", "0", "--json").json()
    assert ended["replaces"]["state"] == "revoked"
    assert cli.run("key", "rotate", ended["id"], "--overlap", "soon").code == 2


@pytest.mark.requirement("ACCESS-6")
def test_a_revoked_key_is_left_out_of_the_list_unless_asked_for(cli: CommandLine) -> None:
    made = cli.run("key", "create", "--json").json()
    assert cli.run("key", "revoke", made["id"], "--json").json()["state"] == "revoked"
    assert cli.run("key", "list", "--json").json()["keys"] == []
    assert [key["state"] for key in cli.run("key", "list", "--all", "--json").json()["keys"]] == ["revoked"]
    assert cli.run("key", "revoke", "nobody").code == 4


@pytest.mark.requirement("ACCESS-3", "ACCESS-6")
def test_a_running_server_takes_new_keys_and_drops_revoked_ones(cli: CommandLine, tmp_path: Path) -> None:
    with process(tmp_path, "--auth", "apikey") as (_, site):
        made = cli.run("key", "create", "--json").json()
        assert site.ask("GET", "/api/sessions", X_API_Key=made["key"]).status == 200
        cli.run("key", "revoke", made["id"])
        # Whatever the server remembers is over within a second; asking on is what a client would do.
        statuses = {site.ask("GET", "/api/sessions", X_API_Key=made["key"]).status}
        while 401 not in statuses:
            statuses.add(site.ask("GET", "/api/sessions", X_API_Key=made["key"]).status)


@pytest.mark.requirement("ACCESS-2")
def test_a_key_that_is_pasted_into_a_session_is_masked(cli: CommandLine) -> None:
    key = cli.run("key", "create", "--json").json()["key"]
    assert key not in Redactor(b"k" * 32).redact(f"use {key} please")[0]
