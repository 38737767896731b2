"""What each reader says of its client, held against what the reader does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from ovillo.demo import demo_environment
from ovillo.readers import all_readers
from ovillo.readers.client import SESSION_VARIABLE_ENDS, Client, client_of
from ovillo.readers.protocol import FindsCall, Reader


class Noting(Mapping[str, str]):
    """An environment in which every variable is a folder, and that remembers which were looked at."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return str(self.folder)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


@pytest.mark.requirement("READ-170")
@pytest.mark.parametrize("reader", all_readers(), ids=lambda reader: reader.name)
def test_a_reader_names_the_variables_it_looks_at(reader: Reader, tmp_path: Path) -> None:
    environment = Noting(tmp_path / "nowhere")
    reader.discover(environment, tmp_path)
    assert set(client_of(reader).variables) == environment.asked


@pytest.mark.requirement("READ-170")
def test_no_variable_of_any_reader_leads_out_of_the_demo(tmp_path: Path) -> None:
    names = [name for reader in all_readers() for name in client_of(reader).variables]
    demo = demo_environment(dict.fromkeys(names, "/real"), tmp_path / "home", tmp_path / "data")
    assert "/real" not in demo.values()


@pytest.mark.requirement("READ-170")
def test_a_client_that_tells_its_call_has_a_reader_that_finds_it() -> None:
    telling = [reader for reader in all_readers() if client_of(reader).call_in_meta]
    assert telling
    assert all(isinstance(reader, FindsCall) for reader in telling)


@pytest.mark.requirement("READ-170")
def test_no_two_clients_answer_to_one_name() -> None:
    names = [client_of(reader).name_over_mcp for reader in all_readers() if client_of(reader).name_over_mcp]
    assert not [(one, other) for one in names for other in names if one != other and one.startswith(other)]
    assert not Client().is_named("")
    assert not Client().is_named("any")


@pytest.mark.requirement("TOOL-11")
def test_variables_that_name_a_session_are_told_from_others_before_readers_are_loaded() -> None:
    names = [client_of(reader).session_variable for reader in all_readers() if client_of(reader).session_variable]
    assert names
    assert all(name.endswith(SESSION_VARIABLE_ENDS) for name in names)
