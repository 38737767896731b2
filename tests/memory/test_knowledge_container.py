"""The v5 container: read exactly, written so that its reader finds all, and never trusted."""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ovillo.app import open_services
from ovillo.interfaces.services import Services
from ovillo.memory.knowledge.container import container_bytes
from ovillo.memory.knowledge.v5 import read_container
from ovillo.model.errors import InvalidInput, OvilloError, SourceUnreadable
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.settings import Settings


@pytest.fixture
def legacy(fixtures: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "legacy"
    shutil.copytree(fixtures / "mcp-hub-v5", folder)
    return folder


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    opened = open_services(Settings(data_dir=tmp_path / "data", home=tmp_path, embedder="minilm"))
    yield opened
    opened.close()


@pytest.mark.requirement("KNOW-9")
def test_a_container_is_read_as_its_ground_truth_says(legacy: Path) -> None:
    truth = json.loads((legacy / "ground-truth.json").read_text())
    found = read_container(legacy / "context_vectors.mp4")
    assert (found.version, found.embedding_model) == (truth["version"], truth["embedding_model"])
    assert (found.snapshot_hash, found.is_hash_valid) == (truth["snapshot_hash"], True)
    assert (found.vector_type, found.dimension) == ("float16", truth["dimension"])
    assert found.vectors is not None
    assert len(found.chunks) == truth["vectors"]
    for row, (chunk, said) in enumerate(zip(found.chunks, truth["chunks"], strict=True)):
        assert (chunk.chunk_id, chunk.file_path) == (said["chunk_id"], said["file"])
        assert (chunk.start_line, chunk.end_line) == (said["start_line"], said["end_line"])
        assert chunk.text_hash == said["text_hash"]
        assert np.linalg.norm(found.vectors[row]) == pytest.approx(said["norm"], abs=1e-3)
        assert list(found.vectors[row][:4]) == pytest.approx(said["first4"], abs=1e-4)


@pytest.mark.requirement("KNOW-9")
def test_an_import_keeps_references_whose_text_is_still_there(services: Services, legacy: Path) -> None:
    report = services.knowledge.import_container(NS, legacy / "context_vectors.mp4")
    assert sorted(Path(path).name for path in report.kept) == ["changelog.md", "checklist.md", "model.md"]
    assert (report.recut, report.stale, report.passed) == ([], [], [])
    # The writer counted an empty line behind the last one as a chunk; nothing can be quoted from it.
    assert report.chunks + len(report.empty) == len(report.container.chunks)
    documents = services.knowledge.list(NS)
    assert sorted(each.name for each in documents) == ["changelog", "checklist", "model"]
    line = next(x for x in (legacy / "model.md").read_text().splitlines() if len(x) > 60)
    hits = services.knowledge.search(NS, line, min_score=0.3).hits
    assert any(line in hit.text for hit in hits)


@pytest.mark.requirement("KNOW-9")
def test_a_document_that_changed_since_is_cut_anew_and_said(services: Services, legacy: Path) -> None:
    page = legacy / "model.md"
    page.write_text(page.read_text().replace("a", "e", 3))
    report = services.knowledge.import_container(NS, legacy / "context_vectors.mp4")
    assert [Path(path).name for path in report.recut] == ["model.md"]
    assert report.stale
    assert "model.md" not in {Path(path).name for path in report.kept}


@pytest.mark.requirement("KNOW-9")
def test_what_is_written_is_read_again(services: Services, legacy: Path, tmp_path: Path) -> None:
    services.knowledge.add(NS, [legacy / "model.md", legacy / "checklist.md"])
    out = tmp_path / "out.mp4"
    report = services.knowledge.export_container(NS, out, base=legacy)
    found = read_container(out)
    assert (len(found.chunks), found.is_hash_valid, found.vector_type) == (report.chunks, True, "float16")
    assert {chunk.file_path for chunk in found.chunks} == {"model.md", "checklist.md"}
    for chunk in found.chunks:
        lines = (legacy / chunk.file_path).read_text().split("\n")
        text = "\n".join(lines[chunk.start_line : chunk.end_line + 1]).strip()
        assert hashlib.sha256(text.encode()).hexdigest() == chunk.text_hash
    assert b"ftyp" in out.read_bytes()[:16]
    again = services.knowledge.import_container(NS, out, base=legacy)
    assert (again.recut, again.passed) == ([], [])


@pytest.mark.requirement("KNOW-9")
@pytest.mark.parametrize("path", ["../secret.md", "/etc/hostname", "a/../../secret.md", "C:\\secret.md", "link.md", ""])
def test_no_path_of_a_container_leads_out_of_its_folder(services: Services, tmp_path: Path, path: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "secret.md").write_text("The key is under the mat.\n")
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    index = {
        "version": "5.0.0",
        "chunks": [{"chunk_id": "x_0", "file_path": path, "start_line": 0, "end_line": 0}],
        "total_vectors": 1,
        "vector_dimension": 0,
    }
    (folder / "c.mp4").write_bytes(container_bytes(json.dumps(index).encode(), b""))
    try:
        report = services.knowledge.import_container(NS, folder / "c.mp4")
    except InvalidInput:
        assert path == ""
    else:
        assert [name for name, _ in report.passed] == [path]
    assert services.knowledge.list(NS) == []


def _box(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I4s", len(content) + 8, kind) + content


_GOOD = container_bytes(b'{"chunks": [], "total_vectors": 0, "vector_dimension": 0}', b"")
_MALICE = {
    "empty": b"",
    "text": b"not a container at all",
    "another brand": _GOOD.replace(b"mcpv", b"mp42"),
    "a box larger than the file": struct.pack(">I4s", 2**31, b"ftyp") + b"mcpv",
    "a 64-bit size that wraps": struct.pack(">I4sQ", 1, b"ftyp", 2**64 - 1) + b"mcpv",
    "a box of size 3": struct.pack(">I4s", 3, b"ftyp") + b"mcpv" * 4,
    "no index": _box(b"ftyp", b"mcpv" + b"\0" * 12) + _box(b"mdat", b"\0" * 16),
    "vectors that are longer than they are": _GOOD.replace(struct.pack(">Q", 0), struct.pack(">Q", 2**40), 1),
    "boxes without end": _box(b"ftyp", b"mcpv" + b"\0" * 12) + _box(b"free", b"") * 5_000,
    "an index of nested lists": container_bytes(b"[" * 100_000, b""),
    "an index in latin-1": container_bytes('{"version": "ñ"}'.encode("latin-1"), b""),
    "more vectors than chunks": container_bytes(b'{"chunks": [], "total_vectors": 9}', b"\0" * 99),
}


@pytest.mark.requirement("KNOW-9")
@pytest.mark.parametrize("name", _MALICE)
def test_damage_and_malice_get_a_clear_error(tmp_path: Path, name: str) -> None:
    path = tmp_path / "c.mp4"
    path.write_bytes(_MALICE[name])
    with pytest.raises((InvalidInput, SourceUnreadable)) as error:
        read_container(path)
    assert error.value.hint


@pytest.mark.requirement("KNOW-9")
@given(data=st.data())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_changed_bytes_never_do_more_than_fail_clearly(legacy: Path, data: st.DataObject) -> None:
    whole = bytearray((legacy / "context_vectors.mp4").read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, 3_200))
        whole[at] = data.draw(st.integers(0, 255))
    path = legacy / "changed.mp4"
    path.write_bytes(bytes(whole[: data.draw(st.integers(0, len(whole)))]))
    try:
        read_container(path)
    except OvilloError as error:
        assert error.message  # noqa: PT017 - most changed files are read all the same


@pytest.mark.requirement("KNOW-9")
def test_a_pickle_in_a_container_is_never_run(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    evil = b"cos\nsystem\n(S'touch " + str(ran).encode() + b"'\ntR."
    path = tmp_path / "c.mp4"
    path.write_bytes(container_bytes(b'{"chunks": [], "total_vectors": 0, "vector_dimension": 0}', b"", evil))
    read_container(path)
    assert not ran.exists()
