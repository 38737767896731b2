"""Issuers that are slow or odd, and tokens made to confuse: nobody who is known waits, and nothing opens that should not."""

from __future__ import annotations

import base64
import json
import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import jwt
import pytest
from jwt.algorithms import RSAAlgorithm

from ovillo.security.credentials import CredentialRefused
from ovillo.security.fetching import fetch
from ovillo.security.tokens import TokenVerifier
from tests.security.test_tokens import (
    GOOD,
    NOW,
    OTHER_RSA,
    RSA,
    SECRET,
    Issuer,
    Time,
    _by,
    _jwk,
    _published,
    _reason,
    _verifier,
    issuer,
)

__all__ = ["issuer"]
#: What has no reason to wait has ended long before (seconds).
_PATIENCE_S = 20


@pytest.fixture
def trickling() -> Iterator[str]:
    """An address whose answer's head never ends, a byte at a time, each before anybody's patience with one is over."""
    ended = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            connection, _ = listener.accept()
            with connection:
                connection.recv(4_096)
                connection.sendall(b"HTTP/1.1 200 OK\r\nX-Endless: ")
                while not ended.wait(0.05):
                    connection.sendall(b"x")

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/keys"
    ended.set()
    listener.close()
    thread.join()


@pytest.mark.requirement("ACCESS-9")
@pytest.mark.timeout(_PATIENCE_S)
def test_an_answer_whose_head_never_ends_is_given_up_in_time(trickling: str) -> None:
    with pytest.raises(TimeoutError):
        fetch(urllib.request.Request(trickling), timeout_s=0.5, max_bytes=1_000)


@pytest.fixture
def silent(issuer: Issuer) -> Iterator[tuple[TokenVerifier, threading.Event]]:
    """A verifier that asks its issuer again, since its keys are old, and whether that has been asked; it says nothing."""
    time, asked, ended = Time(), threading.Event(), threading.Event()
    issuer.keys = [_jwk(RSAAlgorithm, RSA, kid="r")]
    verifier = _published(issuer, time)
    verifier.look_up(_by(RSA, "RS256", "r"))
    time.ms += 301_000
    body = json.dumps({"keys": issuer.keys}).encode()

    def answer() -> tuple[int, bytes, dict[str, str]]:
        asked.set()
        ended.wait(_PATIENCE_S)
        return 200, body, {}

    issuer.answer = answer
    yield verifier, asked
    ended.set()


def _looking_up(verifier: TokenVerifier, token: str) -> threading.Thread:
    def look_up() -> None:
        with suppress(CredentialRefused):
            verifier.look_up(token)

    thread = threading.Thread(target=look_up, daemon=True)
    thread.start()
    return thread


@pytest.mark.requirement("ACCESS-9")
def test_known_keys_go_on_while_the_issuer_says_nothing(silent: tuple[TokenVerifier, threading.Event]) -> None:
    verifier, asked = silent
    _looking_up(verifier, _by(RSA, "RS256", "r"))
    assert asked.wait(_PATIENCE_S)
    another = _looking_up(verifier, jwt.encode({**GOOD, "sub": "ben"}, RSA, "RS256", headers={"kid": "r"}))
    another.join(4)
    assert not another.is_alive()


@pytest.mark.requirement("ACCESS-9")
def test_unknown_keys_wait_for_the_issuer_in_few_threads(silent: tuple[TokenVerifier, threading.Event]) -> None:
    verifier, asked = silent
    waiting = [_looking_up(verifier, _by(OTHER_RSA, "RS256", "made up"))]
    assert asked.wait(_PATIENCE_S)
    waiting += [_looking_up(verifier, _by(OTHER_RSA, "RS256", f"made up {number}")) for number in range(20)]
    for thread in waiting[8:]:
        thread.join(4 if waiting[8:].index(thread) == 0 else 1)
    assert sum(thread.is_alive() for thread in waiting) <= 4


@pytest.mark.requirement("ACCESS-27")
def test_a_key_that_its_issuer_made_for_something_else_checks_no_token(issuer: Issuer) -> None:
    for other in (
        {"key_ops": ["encrypt"]},
        {"key_ops": []},
        {"use": "enc"},
        {"alg": "RSA-OAEP"},
        {"key_ops": "verify"},
    ):
        issuer.keys = [{**_jwk(RSAAlgorithm, RSA, kid="r"), **other}]
        assert "No key" in _reason(_published(issuer), _by(RSA, "RS256", "r")), other
    issuer.keys = [{**_jwk(RSAAlgorithm, RSA, kid="r"), "key_ops": ["sign", "verify"]}]
    assert _published(issuer).look_up(_by(RSA, "RS256", "r")).name == "ana"


@pytest.mark.requirement("ACCESS-8")
def test_a_key_id_is_compared_and_nothing_else_done_with_it(issuer: Issuer) -> None:
    issuer.keys = [_jwk(RSAAlgorithm, RSA, kid="r"), _jwk(RSAAlgorithm, OTHER_RSA, kid="s")]
    verifier = _published(issuer)
    for odd in ("../../keys", "r\x00", "R", "r' OR '1'='1", "http://127.0.0.1:9/keys", ""):
        assert "No key" in _reason(verifier, _by(RSA, "RS256", odd) if odd else _headed({"alg": "RS256", "kid": ""}))
    # Keys and addresses of keys in the token itself are not looked at.
    own = {"jwk": _jwk(RSAAlgorithm, OTHER_RSA), "jku": issuer.url, "x5u": issuer.url, "x5c": ["MII"]}
    forged = jwt.encode(GOOD, OTHER_RSA, "RS256", headers={"kid": "r", **own})
    assert "signature" in _reason(verifier, forged)
    assert issuer.asked == 1
    # Of two keys with one id neither is chosen.
    issuer.keys = [_jwk(RSAAlgorithm, RSA, kid="r"), _jwk(RSAAlgorithm, OTHER_RSA, kid="r")]
    assert "No key" in _reason(_published(issuer), _by(RSA, "RS256", "r"))


def _part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _headed(header: dict[str, Any]) -> str:
    return f"{_part(json.dumps(header).encode())}.{_part(json.dumps(GOOD).encode())}.{_part(b'signature')}"


def _with_claims(text: str) -> str:
    """Signed well, whatever the claims look like."""
    return jwt.api_jws.encode(text.encode(), SECRET, "HS256")


@pytest.mark.requirement("ACCESS-7")
@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ('"exp": 1e999', "exp"),
        ('"exp": NaN', "exp"),
        ('"exp": ' + "9" * 400, "exp"),
        ('"exp": ' + "9" * 5_000, "read"),
        ('"exp": "9999999999"', "exp"),
        ('"exp": null', "exp"),
        ('"exp": [9999999999]', "exp"),
        (f'"exp": {NOW + 600}, "nbf": {"9" * 30}', "nbf"),
        (f'"exp": {NOW + 600}, "nbf": "soon"', "nbf"),
        (f'"exp": {NOW + 600}, "aud": ["ovillo", 7]', "audience"),
        (f'"exp": {NOW + 600}, "aud": {{"ovillo": 1}}', "audience"),
        (f'"exp": {NOW + 600}, "aud": "ovillo-other"', "audience"),
        (f'"exp": {NOW + 600}, "aud": ["ovillo "]', "audience"),
        (f'"exp": {NOW + 600}, "iss": ["https://issuer.example"]', "issuer"),
        (f'"exp": {NOW + 600}, "sub": ["ana"]', "read"),
        (f'"exp": {NOW + 600}, "namespace": "team", "namespace": ["team"]', "namespace"),
        (f'"exp": {NOW + 600}, "x": ' + "[" * 4_000 + "]" * 4_000, "read"),
    ],
)  # fmt: skip
def test_claims_of_odd_kinds_and_sizes_are_refused_by_name(claims: str, reason: str) -> None:
    rest = '"iss": "https://issuer.example", "aud": "ovillo", "sub": "ana", "namespace": "team", '
    assert reason in _reason(_verifier(), _with_claims("{" + rest + claims + "}"))


@pytest.mark.requirement("ACCESS-7")
def test_of_a_claim_that_stands_twice_what_is_checked_is_what_counts() -> None:
    rest = '"iss": "https://issuer.example", "aud": "ovillo", "sub": "ana", "namespace": "team", '
    twice = _with_claims(
        "{" + rest + f'"exp": {NOW - 600}, "exp": {NOW + 600}, "sub": "root", "namespace": "other"' + "}"
    )
    principal = _verifier().look_up(twice)
    assert (principal.name, principal.namespace) == ("root", "other")
    expired = _with_claims("{" + rest + f'"exp": {NOW + 600}, "exp": {NOW - 600}' + "}")
    assert "expired" in _reason(_verifier(), expired)


@pytest.mark.requirement("ACCESS-30")
@pytest.mark.parametrize("name", ["local", "anonymous", "anyone"])
def test_no_token_comes_under_the_name_of_the_local_user(name: str) -> None:
    assert "sub" in _reason(_verifier(), jwt.encode({**GOOD, "sub": name}, SECRET, "HS256"))


@pytest.mark.requirement("ACCESS-8")
def test_a_token_with_two_algorithms_in_its_head_gets_by_none_of_them() -> None:
    for first, second in (("none", "HS256"), ("HS256", "none"), ("RS256", "HS256")):
        head = _part(f'{{"alg":"{first}","alg":"{second}"}}'.encode())
        assert _reason(_verifier(), f"{head}.{_part(json.dumps(GOOD).encode())}.")
    for odd in (None, 7, ["HS256"], "hs256", "HS256 ", ""):
        assert "signed with HS256" in _reason(_verifier(), _headed({"alg": odd}))
