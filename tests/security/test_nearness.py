"""Secrets in sentences that no list of turns holds, and sentences that hold none."""

from __future__ import annotations

import pytest

from ovillo.security.redaction import Redactor

PASSWORD = "Gato" + "!2024x"
DRAWN = "tR9v" + "4KqWz2Ld7"
KEY = "9fKq2LmZ7xWc" + "4VbN1tRs8YpHd3Gj"

SAID = (
    "it used to be {s} but that password is gone",
    "the password was reset last night; please use {s} from now on",
    "enter {s} when it asks you for the password",
    "`{s}` <- the password of the printer",
    "la contraseña, que hasta ayer era {s}, ya no vale",
    "se entra con jordi y la contraseña del martes, {s}",
    "le mot de passe (provisoire, on le changera) : {s}",
    "saisis {s} dès que le mot de passe est demandé",
    "põe {s} quando ele pedir a senha",
    "a senha do roteador, aquele da sala, virou {s}",
    "DB_PASSWORD, which is {s}, stands in the file",
    "- quel est le mot de passe ?\n- {s}",
    "[10:02] kate: send me the pw\n[10:03] joe: {s}",
    "Password for the user (reset it later):\n\n{s}\n",
)
KEYS = (
    "paste this as the token: {s}",
    "I see the token ({s}) stands in the source",
    "la api key nueva del proveedor {s}",
    "voici le jeton que j'ai reçu : {s}",
    "segue a chave nova, {s}",
    "SetEnv APP_TOKEN {s}",
    "kv put app/billing/token {s}",
    'dotnet user-secrets set "Mail:ApiToken" "{s}"',
    'args: ["--api-key",\n   "{s}"]',
)
HARMLESS = (
    "the password check moved to HTTP/1.1 in v2.14.0-rc1",
    "password hashing: PBKDF2-HMAC-SHA512, AES-256-GCM for the rest",
    "the password of deploy@10.0.3.17's account has expired",
    "[main 3f2a1bc] Remove the password from the settings",
    "la contraseña está en 1Password",
    "the token check came with commit 4321904a2c1b5b2a9944d9d0176f45e06b07483c",
    "what does the secret scanner report for b0517f44?",
    "rotated signing key kid=7a68016d",
    "the key of the row is user:1234:profile2, the cache key v2/us-east-1/abc123",
    "password: use python3.11 or node20 / npm10",
    "js-tokens 4.0.0 has sha512-RdJUflcE3cUzKiMqQgsCu06FPu9UdIJO0beYbPhHN4k6apgJtifcoCtT9bcxOpYBtpD2kCM6Sbzg4CausW",
    "log in as user2 on web-01 with OAuth2.0 / OIDC",
    "the readers (Python3, Node20) pass x86_64 and arm64",
    "gpg --recv-keys C82FA3AE1CBEDC6BE46B9360C43CEC45C17AB93C",
    '"key": "j2dwtz7hcttc",',
    "near0 = 1.0 / 10**precision",
    "Password:\n  minLength: 8\n",
)


def mask(text: str) -> str:
    return Redactor(b"k" * 32).redact(text)[0]


@pytest.mark.requirement("SEC-63")
@pytest.mark.parametrize("sentence", SAID)
@pytest.mark.parametrize("secret", [PASSWORD, DRAWN])
def test_a_password_is_found_near_its_word_however_the_sentence_goes(sentence: str, secret: str) -> None:
    clean = mask(sentence.format(s=secret))
    assert secret not in clean
    assert "[redacted:" in clean


@pytest.mark.requirement("SEC-63")
@pytest.mark.parametrize("sentence", KEYS)
def test_a_token_is_found_near_its_word(sentence: str) -> None:
    assert KEY not in mask(sentence.format(s=KEY))


@pytest.mark.requirement("SEC-63")
def test_a_long_token_is_masked_to_its_end() -> None:
    token = KEY * 20
    assert mask(f"here is the token that I was given: {token} and so on").endswith("] and so on")


@pytest.mark.requirement("SEC-2")
@pytest.mark.parametrize("sentence", HARMLESS)
def test_names_versions_ids_and_paths_near_such_a_word_are_spared(sentence: str) -> None:
    assert mask(sentence) is sentence
