"""What is done in the background leaves the processor to whoever waits for an answer."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import anyio
import pytest

from ovillo.interfaces.turns import Turns
from ovillo.model.foreground import Foreground
from ovillo.search.embedders import open_embedder
from ovillo.search.embedding_queue import EmbeddingQueue
from tests.search.corner import corner
from tests.search.test_meaning import OTHERS

#: Nothing here takes so long (seconds).
_LONG_S = 30.0


@pytest.mark.requirement("SEARCH-14")
def test_texts_are_embedded_once_nobody_waits_for_an_answer(tmp_path: Path) -> None:
    foreground, stop = Foreground(), threading.Event()
    with corner(tmp_path, *OTHERS[:3], embedder="minilm") as c:
        embedder = open_embedder(c.settings)
        assert embedder is not None
        queue = EmbeddingQueue(c.store, embedder, lambda: foreground.wait_until_quiet(stop, _LONG_S))
        embedding = threading.Thread(target=queue.run_until_done, kwargs={"stop": stop})
        with foreground:
            embedding.start()
            embedding.join(0.5)
            assert queue.share() == (0, 6)
        embedding.join(_LONG_S)
        assert queue.share() == (6, 6)


def test_what_waits_for_quiet_is_not_kept_waiting_for_ever() -> None:
    foreground = Foreground()
    began = time.monotonic()
    with foreground:
        foreground.wait_until_quiet(threading.Event(), 0.1)
    assert time.monotonic() - began >= 0.1
    assert not foreground.is_quiet  # clients ask again at once


def test_an_ending_process_waits_for_no_quiet() -> None:
    foreground, stop = Foreground(), threading.Event()
    stop.set()
    began = time.monotonic()
    with foreground:
        foreground.wait_until_quiet(stop, _LONG_S)
    assert time.monotonic() - began < _LONG_S


def test_a_thread_that_works_for_a_caller_is_no_quiet_also_when_it_fails() -> None:
    foreground = Foreground()
    seen: list[bool] = []

    def work() -> None:
        seen.append(foreground.is_quiet)
        raise ValueError("work")

    async def main() -> None:
        with pytest.raises(ValueError, match="work"):
            await Turns(foreground).run("somebody", work)
        await anyio.sleep(0.1)

    anyio.run(main)
    assert seen == [False]
    assert foreground.is_quiet
