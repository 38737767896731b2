"""LangGraph's own conformance suite on the saver, and what its users would miss else. Runs where the SDK is (``make adapters``)."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate

from ovillo.adapters import opened
from ovillo.adapters.langgraph import OvilloSaver


@pytest.fixture(autouse=True)
def closed():
    yield
    opened.close()


def test_the_conformance_suite_of_langgraph_passes(tmp_path: Path) -> None:
    number = itertools.count()

    @checkpointer_test(name="OvilloSaver")
    async def saver() -> AsyncIterator[OvilloSaver]:
        yield OvilloSaver(data_dir=tmp_path / str(next(number)))

    report = asyncio.run(validate(saver))
    results = report.to_dict()["results"]
    failures = {name: found["failures"] for name, found in results.items() if found["failures"]}
    assert failures == {}
    assert report.passed_all()
    passed, skipped = (sum(found[f"tests_{how}"] for found in results.values()) for how in ("passed", "skipped"))
    assert (report.conformance_level(), passed, skipped) == ("FULL", 81, 0)
