"""One of the processes that read a large source: its whole life.

Owns what comes in (once, what to read), what goes out (bundles, each behind its length), and how this process is set up.
Started by ``parallel``; imports what every reading needs, and nothing that starts processes.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
import sys
from typing import BinaryIO, NamedTuple

from ovillo.ingest.gather import Bundle, MakeRedactor, bundles
from ovillo.ingest.scan_filter import ScanFilter
from ovillo.readers import reader_named
from ovillo.readers.protocol import Cursor, Source
from ovillo.store.protocol import Preparation

#: Bytes of the number before each bundle.
LENGTH_BYTES = 8
#: New objects before garbage is looked for. What readers make is freed without that; at Python's own 700, looking takes a
#: tenth of the time.
_GARBAGE = 50_000


class Share(NamedTuple):
    """What one process reads."""

    source: Source
    cursor: Cursor
    make_redactor: MakeRedactor
    preparation: Preparation
    scan_filter: ScanFilter


def main() -> None:
    """Ends with the share, or when nobody takes what it reads any more."""
    # Ctrl-C is for the process that writes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = _the_only_output()
    share: Share = pickle.load(sys.stdin.buffer)
    gc.freeze()
    gc.set_threshold(_GARBAGE)
    with contextlib.suppress(BrokenPipeError):
        for bundle in bundles(reader_named(share.source.reader), *share):
            _send(out, bundle)
            # Not kept while the next one is gathered.
            del bundle
        _send(out, None)
        out.close()


def _the_only_output() -> BinaryIO:
    """Standard output for bundles alone: what anybody prints goes to standard error."""
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return out


def _send(out: BinaryIO, bundle: Bundle | None) -> None:
    data = memoryview(pickle.dumps(bundle, pickle.HIGHEST_PROTOCOL))
    out.write(len(data).to_bytes(LENGTH_BYTES, "big"))
    while data:
        data = data[out.write(data) :]
