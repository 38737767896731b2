"""Reading one large source with several processes: they read and prepare, the caller writes.

Owns the processes and the pipes between. Worth it for a first scan only: starting them costs a third of a
second, and one Python process can neither parse nor analyse on two cores.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.connection import Connection, wait

from ovillo.ingest.gather import Bundle, MakeRedactor, bundles
from ovillo.ingest.scan_filter import ScanFilter
from ovillo.model.records import SessionId
from ovillo.readers import reader_named
from ovillo.readers.protocol import Cursor, Source
from ovillo.store.protocol import Preparation

#: More readers than this only wait for the one writer.
_MAX_WORKERS = 3


def worker_count() -> int:
    return max(1, min(_MAX_WORKERS, os.cpu_count() or 1))


def parallel_bundles(
    source: Source,
    cursor: Cursor,
    make_redactor: MakeRedactor,
    preparation: Preparation,
    scan_filter: ScanFilter,
    workers: int,
) -> Iterator[Bundle]:
    """Bundles of all shares of ``source`` as they come; like ``bundles``, never raises."""
    context = multiprocessing.get_context("spawn")
    processes, pipes = [], []
    for index in range(workers):
        receiver, sender = context.Pipe(duplex=False)
        share = replace(source, shard=(index, workers))
        process = context.Process(
            target=_read_share,
            args=(sender, share, cursor, make_redactor, preparation, scan_filter),
            daemon=True,
            name=f"ovillo-read-{index}",
        )
        process.start()
        # The only sending end left is the child's: its death is then seen as the end of the pipe.
        sender.close()
        processes.append(process)
        pipes.append(receiver)
    try:
        yield from _collect(pipes, Bundle(preparation.prepare([])))
    finally:
        for pipe in pipes:
            pipe.close()
        for process in processes:
            process.join(timeout=5)
            if process.is_alive():
                process.terminate()


def _collect(pipes: list[Connection], last: Bundle) -> Iterator[Bundle]:
    open_pipes = list(pipes)
    finished = 0
    inventories: list[frozenset[SessionId]] = []
    while open_pipes:
        for pipe in wait(open_pipes):
            assert isinstance(pipe, Connection)
            try:
                bundle = pipe.recv()
            except EOFError:
                open_pipes.remove(pipe)
                continue
            if bundle is None:
                finished += 1
                continue
            if bundle.inventory is not None:
                inventories.append(bundle.inventory)
                # One share's sessions are not all the source holds.
                bundle.inventory = None
            yield bundle
    if finished < len(pipes):
        last.error = "A reading process ended before its time; the next scan goes on where it stopped."
    elif len(inventories) == len(pipes):
        last.inventory = frozenset().union(*inventories)
    yield last


def _read_share(
    pipe: Connection,
    source: Source,
    cursor: Cursor,
    make_redactor: MakeRedactor,
    preparation: Preparation,
    scan_filter: ScanFilter,
) -> None:
    # A closed pipe means that the writing process is gone: nothing is left to do.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
        for bundle in bundles(reader_named(source.reader), source, cursor, make_redactor, preparation, scan_filter):
            pipe.send(bundle)
        pipe.send(None)
    pipe.close()
