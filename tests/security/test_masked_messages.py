"""A message is masked as each of its texts is by itself, though all of them are looked into at once."""

from __future__ import annotations

import random

import pytest

from ovillo.model.records import SessionDelta
from ovillo.security.redaction import Redactor
from tests.builders import delta, message
from tests.security.families import HARMLESS, secrets_of

_REDACTOR = Redactor(b"k" * 32)
#: Begin something that goes on over lines, or end it: what stands in the next text is not theirs.
_LOOSE_ENDS = (
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----END RSA PRIVATE KEY-----",
    "the password is",
    "password:",
    '{"password": "',
    "| user | password |\n|---|---|",
    "seed phrase:",
    "export TOKEN=\\",
    "key_bytes = [1, 2, 3,",
    "\x1b[31mpassword\x1b[0m=",
    "get_password(",
)


def of_texts(texts: list[str]) -> SessionDelta:
    return delta(message("m1", 1, *texts))


@pytest.mark.requirement("SEC-2")
@pytest.mark.parametrize("seed", range(40))
def test_a_message_is_masked_as_its_texts_are(seed: int) -> None:
    draw = random.Random(seed)
    secret = [text for _, text, _ in secrets_of(seed)]
    for _ in range(25):
        texts = draw.choices((*HARMLESS, *_LOOSE_ENDS), k=draw.randint(1, 5)) + draw.sample(secret, draw.randint(0, 2))
        draw.shuffle(texts)
        masked, _ = _REDACTOR.redact_delta(of_texts(texts))
        assert [part.text for part in masked.messages[0].parts] == [_REDACTOR.redact_text(text) for text in texts]
