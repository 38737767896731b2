"""Tokens signed by somebody else: with a shared secret, and with keys that a real (local) server publishes."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from ovillo.model.errors import InvalidInput, UpstreamError
from ovillo.security.credentials import CredentialRefused
from ovillo.security.jwks import PublishedKeys
from ovillo.security.tokens import SharedSecret, TokenVerifier, check_settings
from tests.builders import NOON

SECRET = "a secret of more than thirty-two bytes, made up"
NOW = NOON // 1000
GOOD = {"iss": "https://issuer.example", "aud": "ovillo", "sub": "ana", "exp": NOW + 600, "namespace": "team"}


class Time:
    def __init__(self) -> None:
        self.ms = NOON

    def clock(self) -> int:
        return self.ms

    def monotonic(self) -> float:
        return self.ms / 1000


def _verifier(keys: Any = None, algorithms: tuple[str, ...] = ("HS256",), **options: Any) -> TokenVerifier:
    time = options.pop("time", Time())
    options = {"issuer": "https://issuer.example", "audience": "ovillo", **options}
    keys = keys or SharedSecret(SECRET.encode())
    return TokenVerifier(keys, algorithms, clock=time.clock, monotonic=time.monotonic, **options)


def _signed(claims: dict[str, Any] | None = None, **changes: Any) -> str:
    wanted = {**GOOD, **(claims or {}), **changes}
    return jwt.encode({name: value for name, value in wanted.items() if value is not None}, SECRET, "HS256")


def _reason(verifier: TokenVerifier, token: str) -> str:
    assert verifier.known(token) is None
    with pytest.raises(CredentialRefused) as refused:
        verifier.look_up(token)
    assert verifier.known(token) is None
    return refused.value.reason


@pytest.mark.requirement("ACCESS-7", "ACCESS-10")
def test_a_good_token_gives_subject_namespace_and_the_scopes_that_exist() -> None:
    verifier = _verifier()
    token = _signed(scope="history:read openid sessions:write")
    principal = verifier.look_up(token)
    assert (principal.name, principal.namespace, principal.key_id) == ("ana", "team", "jwt:https://issuer.example")
    # A key may be called ana, too.
    assert principal.owner == "ana jwt:https://issuer.example"
    assert principal.scopes == {"history:read", "sessions:write"}
    assert verifier.known(token) == principal


@pytest.mark.requirement("ACCESS-7")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"exp": NOW - 31}, "expired"),
        ({"exp": None}, "'exp'"),
        ({"exp": float("inf")}, "exp"),
        ({"exp": True}, "exp"),
        ({"nbf": NOW + 31}, "not valid yet"),
        ({"iat": NOW + 31}, "not valid yet"),
        ({"aud": "other"}, "audience"),
        ({"aud": None}, "'aud'"),
        ({"aud": []}, "'aud'"),
        ({"iss": "https://evil.example"}, "issuer"),
        ({"iss": None}, "'iss'"),
        ({"sub": None}, "'sub'"),
        ({"sub": ""}, "sub"),
        ({"sub": "x" * 201}, "sub"),
    ],
)
def test_each_claim_that_is_wrong_or_missing_is_named(changes: dict[str, Any], reason: str) -> None:
    assert reason in _reason(_verifier(), _signed(changes))


@pytest.mark.requirement("ACCESS-7")
def test_clocks_may_differ_by_half_a_minute() -> None:
    assert _verifier().look_up(_signed(exp=NOW - 29, nbf=NOW + 29, iat=NOW + 29))


@pytest.mark.requirement("ACCESS-7")
def test_a_token_ends_while_it_is_remembered() -> None:
    time = Time()
    verifier = _verifier(time=time)
    token = _signed(exp=NOW + 10)
    verifier.look_up(token)
    time.ms += 39_000
    assert verifier.known(token)
    time.ms += 1_000
    assert "expired" in _reason(verifier, token)


@pytest.mark.requirement("ACCESS-7")
def test_a_changed_token_and_another_secret_are_refused() -> None:
    head, body, signature = _signed().split(".")
    forged = base64.urlsafe_b64encode(json.dumps({**GOOD, "sub": "root"}).encode()).decode().rstrip("=")
    assert "signature" in _reason(_verifier(), f"{head}.{forged}.{signature}")
    assert "signature" in _reason(_verifier(SharedSecret(b"another secret of thirty-two bytes or more")), _signed())
    assert _reason(_verifier(), f"{head}.{body}.")


@pytest.mark.requirement("ACCESS-8")
def test_an_unsigned_token_and_an_algorithm_off_the_list_are_refused() -> None:
    unsigned = jwt.encode(GOOD, None, "none")
    assert "signed with HS256" in _reason(_verifier(), unsigned)
    assert "signed with HS512" in _reason(_verifier(algorithms=("HS512",)), _signed())
    critical = jwt.encode(GOOD, SECRET, "HS256", headers={"crit": ["b64"], "b64": True})
    assert _reason(_verifier(), critical)


@pytest.mark.requirement("ACCESS-7")
@given(st.text(max_size=80) | st.from_regex(r"\A[A-Za-z0-9_-]{0,20}(\.[A-Za-z0-9_-]{0,20}){1,4}\Z"))
def test_what_is_no_token_is_refused_and_never_fails(text: str) -> None:
    assert _reason(_verifier(), text)


@pytest.mark.requirement("ACCESS-10")
def test_without_a_namespace_a_token_opens_nothing_unless_a_default_is_set() -> None:
    assert "'namespace'" in _reason(_verifier(), _signed(namespace=None))
    assert _verifier(default_namespace="default").look_up(_signed(namespace=None)).namespace == "default"
    for namespace in ("", ["team"], 7, " ", "a\nb"):
        assert "namespace" in _reason(_verifier(default_namespace="default"), _signed(namespace=namespace))


@pytest.mark.requirement("ACCESS-10")
def test_claims_of_other_names_and_lists_are_understood() -> None:
    verifier = _verifier(namespace_claim="org", scope_claim="permissions")
    principal = verifier.look_up(_signed(org="acme", permissions=["history:read", 7, None]))
    assert (principal.namespace, principal.scopes) == ("acme", {"history:read"})
    assert verifier.look_up(_signed(org="acme", permissions={"a": 1})).scopes == frozenset()


# --- published keys


class Issuer:
    """Publishes ``document`` over HTTP and counts who asks."""

    def __init__(self) -> None:
        self.keys: list[dict[str, Any]] = []
        self.answer: Callable[[], tuple[int, bytes, dict[str, str]]] = lambda: (
            200,
            json.dumps({"keys": self.keys}).encode(),
            {},
        )
        self.asked = 0
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked += 1
                status, body, headers = issuer.answer()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/keys"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    running = Issuer()
    yield running
    running.server.shutdown()
    running.thread.join()
    running.server.server_close()


RSA = rsa.generate_private_key(65537, 2048)
OTHER_RSA = rsa.generate_private_key(65537, 2048)
CURVE = ec.generate_private_key(ec.SECP256R1())
EDWARDS = ed25519.Ed25519PrivateKey.generate()
ASYMMETRIC = ("RS256", "ES256", "EdDSA")


def _jwk(algorithm: Any, key: Any, **fields: str) -> dict[str, Any]:
    return {**json.loads(algorithm.to_jwk(key.public_key())), **fields}


def _published(issuer: Issuer, time: Time | None = None) -> TokenVerifier:
    time = time or Time()
    return _verifier(PublishedKeys(issuer.url, ASYMMETRIC, time.monotonic), ASYMMETRIC, time=time)


def _by(key: Any, algorithm: str, key_id: str | None = None) -> str:
    return jwt.encode(GOOD, key, algorithm, headers={"kid": key_id} if key_id else None)


@pytest.mark.requirement("ACCESS-9")
def test_keys_of_three_kinds_are_fetched_once(issuer: Issuer) -> None:
    issuer.keys = [
        _jwk(RSAAlgorithm, RSA, kid="r"),
        _jwk(ECAlgorithm, CURVE, kid="e"),
        _jwk(OKPAlgorithm, EDWARDS, kid="d"),
    ]
    verifier = _published(issuer)
    for key, algorithm, key_id in ((RSA, "RS256", "r"), (CURVE, "ES256", "e"), (EDWARDS, "EdDSA", "d")):
        assert verifier.look_up(_by(key, algorithm, key_id)).name == "ana"
    # Without an id the kind decides, while only one key is of that kind.
    assert verifier.look_up(_by(RSA, "RS256")).name == "ana"
    assert issuer.asked == 1


@pytest.mark.requirement("ACCESS-9")
def test_an_unknown_key_is_looked_for_at_most_once_per_interval(issuer: Issuer) -> None:
    time = Time()
    issuer.keys = [_jwk(RSAAlgorithm, RSA, kid="old")]
    verifier = _published(issuer, time)
    verifier.look_up(_by(RSA, "RS256", "old"))
    time.ms += 31_000
    issuer.keys.append(_jwk(RSAAlgorithm, OTHER_RSA, kid="new"))
    assert verifier.look_up(_by(OTHER_RSA, "RS256", "new"))
    for number in range(20):
        assert "No key" in _reason(verifier, _by(OTHER_RSA, "RS256", f"made up {number}"))
    assert issuer.asked == 2


@pytest.mark.requirement("ACCESS-9")
def test_a_withdrawn_key_stops_and_an_issuer_that_is_away_changes_nothing(issuer: Issuer) -> None:
    time = Time()
    issuer.keys = [_jwk(RSAAlgorithm, RSA, kid="r")]
    verifier = _published(issuer, time)
    token = _by(RSA, "RS256", "r")
    verifier.look_up(token)
    time.ms += 301_000
    good = issuer.answer
    issuer.answer = lambda: (500, b"", {})
    assert verifier.look_up(token)
    issuer.answer, issuer.keys = good, []
    time.ms += 61_000
    assert "No key" in _reason(verifier, token)


@pytest.mark.requirement("ACCESS-8")
def test_a_public_key_is_never_taken_for_a_secret(issuer: Issuer) -> None:
    public = RSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    octets = base64.urlsafe_b64encode(public).decode().rstrip("=")
    issuer.keys = [_jwk(RSAAlgorithm, RSA, kid="r"), {"kty": "oct", "kid": "o", "k": octets}]
    verifier = _published(issuer)
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","kid":"o"}').decode().rstrip("=")
    body = base64.urlsafe_b64encode(json.dumps(GOOD).encode()).decode().rstrip("=")
    assert "signed with RS256" in _reason(verifier, f"{head}.{body}.c2ln")
    # An RSA key checks no other kind's signature, whatever the header says.
    assert _reason(verifier, _by(CURVE, "ES256", "r"))
    issuer.keys[0]["use"] = "enc"
    assert "No key" in _reason(_published(issuer), _by(RSA, "RS256", "r"))


@pytest.mark.requirement("ACCESS-9")
@pytest.mark.parametrize(
    "answer",
    [
        (200, b"[]", {}),
        (200, b'{"keys": 7}', {}),
        (200, b"[" * 100_000, {}),
        (200, b'{"keys": [' + b" " * 1_100_000 + b"]}", {}),
        (302, b"", {"Location": "http://127.0.0.1:9/keys"}),
        (200, b"not json", {}),
    ],
)
def test_an_issuer_that_answers_nonsense_is_told_as_such(
    issuer: Issuer, answer: tuple[int, bytes, dict[str, str]]
) -> None:
    issuer.answer = lambda: answer
    with pytest.raises(UpstreamError):
        _published(issuer).look_up(_by(RSA, "RS256", "r"))


@pytest.mark.requirement("ACCESS-9")
def test_broken_keys_beside_a_good_one_cost_themselves_only(issuer: Issuer) -> None:
    issuer.keys = [{}, {"kty": "RSA"}, {"kty": "RSA", "kid": "r2", "n": "!", "e": 3}, _jwk(RSAAlgorithm, RSA, kid="r")]
    issuer.keys.append(7)  # type: ignore[arg-type]
    assert _published(issuer).look_up(_by(RSA, "RS256", "r")).name == "ana"


@pytest.mark.requirement("ACCESS-27")
@pytest.mark.filterwarnings("ignore:.*recommended size")
@pytest.mark.parametrize("bits", [1024, 2047])
def test_a_published_key_that_can_be_broken_checks_no_token_and_is_named_in_the_log(
    issuer: Issuer, caplog: pytest.LogCaptureFixture, bits: int
) -> None:
    weak = rsa.generate_private_key(65537, bits)
    issuer.keys = [_jwk(RSAAlgorithm, weak, kid="w"), _jwk(RSAAlgorithm, RSA, kid="r")]
    verifier = _published(issuer)
    assert "No key" in _reason(verifier, _by(weak, "RS256", "w"))
    assert verifier.look_up(_by(RSA, "RS256", "r")).name == "ana"
    # The good one is the only one: a token without an id is checked with it.
    assert verifier.look_up(_by(RSA, "RS256")).name == "ana"
    assert "'w'" in caplog.text
    assert f"is not used: RSA of {bits} bits" in caplog.text


@pytest.mark.requirement("ACCESS-27")
def test_a_curve_belongs_to_its_algorithm_and_a_published_private_key_counts_for_nothing(
    issuer: Issuer, caplog: pytest.LogCaptureFixture
) -> None:
    wide = ec.generate_private_key(ec.SECP384R1())
    odd = ec.generate_private_key(ec.SECP256K1())
    issuer.keys = [
        _jwk(ECAlgorithm, wide, kid="wide"),
        _jwk(ECAlgorithm, odd, kid="odd"),
        {**json.loads(RSAAlgorithm.to_jwk(OTHER_RSA)), "kid": "private"},
        {**json.loads(ECAlgorithm.to_jwk(CURVE)), "kid": "private"},
    ]
    verifier = _published(issuer)
    for key, algorithm, key_id in ((OTHER_RSA, "RS256", "private"), (CURVE, "ES256", "private")):
        assert "No key" in _reason(verifier, _by(key, algorithm, key_id))
    for key, key_id in ((wide, "wide"), (odd, "odd")):
        assert _reason(verifier, _signed_by_hand(key, key_id))
    assert "is not used: the curve 'secp256k1'" in caplog.text
    assert "is not used: it is the private key" in caplog.text


def _signed_by_hand(key: ec.EllipticCurvePrivateKey, key_id: str) -> str:
    """ES256 with a key of another curve, which no library makes."""

    def part(data: bytes) -> str:
        return base64.urlsafe_b64encode(data).decode().rstrip("=")

    head = part(json.dumps({"alg": "ES256", "kid": key_id}).encode()) + "." + part(json.dumps(GOOD).encode())
    size = (key.key_size + 7) // 8
    r, s = decode_dss_signature(key.sign(head.encode(), ec.ECDSA(SHA256())))
    return f"{head}.{part(r.to_bytes(size, 'big') + s.to_bytes(size, 'big'))}"


# --- settings


@pytest.mark.requirement("ACCESS-8")
@pytest.mark.parametrize(
    ("secret", "url", "algorithms", "issuer", "told"),
    [
        (None, None, (), "i", "OVILLO_JWT_SECRET"),
        (SECRET, "https://issuer.example", (), "i", "not both"),
        (SECRET, None, ("RS256",), None, "HS256"),
        (SECRET, None, ("HS256", "none"), None, "none"),
        (None, "https://issuer.example", ("RS256", "HS256"), "i", "RS256"),
        (None, "https://issuer.example", (), None, "OVILLO_JWT_ISSUER"),
        ("short", None, (), None, "32 bytes"),
        (SECRET, None, ("HS512",), None, "64 bytes"),
    ],
)
def test_unsafe_settings_are_refused_before_anything_starts(
    secret: str | None, url: str | None, algorithms: tuple[str, ...], issuer: str | None, told: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_settings(secret, url, algorithms, issuer)
    assert told in str(refused.value)
