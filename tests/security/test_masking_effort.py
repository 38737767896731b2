"""Texts that somebody made so that looking for secrets in them would never end: it ends, and masks the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

#: Each takes seconds, most of them loading; one that takes longer than this does not end (seconds).
_NEVER_S = 60
_MASK = """
import random, string
from ovillo.security.redaction import Redactor
draw = random.Random(5)
token = lambda size: "".join(draw.choices(string.ascii_letters + string.digits, k=size))
masked, counts = Redactor(bytes(range(32))).redact({text})
print(len(masked), sum(counts.values()))
"""
_TEXTS = {
    "keys that begin and never end": '"-----BEGIN PRIVATE KEY-----\\n" * 200_000',
    "keys that are said again": '"".join(f"ghp_{token(36)}\\n" for _ in range(40_000))',
    "colours around a long text": '"\\x1b[31m" + "a word and another one " * 400_000 + "password=" + token(16)',
}


@pytest.mark.requirement("SEC-61")
@pytest.mark.parametrize("text", _TEXTS.values(), ids=_TEXTS)
def test_masking_a_text_made_against_it_ends(text: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _MASK.format(text=text)], capture_output=True, text=True, timeout=_NEVER_S, check=True
    )
    assert done.stdout


@pytest.mark.requirement("SEC-61")
def test_a_key_is_masked_whole_however_it_is_quoted_and_whatever_began_before_it() -> None:
    from ovillo.security.redaction import Redactor

    body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n" * 3
    redactor = Redactor(bytes(range(32)))
    for key in (
        f"-----BEGIN PRIVATE KEY-----\n{body}-----END PRIVATE KEY-----",
        "+-----BEGIN RSA PRIVATE KEY-----\n" + "".join(f"+{line}\n" for line in body.split()) + "+-----END RSA PRIVATE KEY-----",
        "------BEGIN RSA PRIVATE KEY-----\n" + "".join(f"-{line}\n" for line in body.split()) + "------END RSA PRIVATE KEY-----",
        f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n{body}-----END RSA PRIVATE KEY-----",
    ):  # fmt: skip
        for before in ("", "-----BEGIN PRIVATE KEY-----\nnothing\n", "--- a\n"):
            assert body.split("\n")[1][:40] not in redactor.redact(f"{before}{key}\nafterwards")[0]
            assert redactor.redact(f"{before}{key}\nafterwards")[0].endswith("\nafterwards")
