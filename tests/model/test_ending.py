"""A process that is done leaves at once, and loses nothing that Python's own end would have kept."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_BODY = """
import atexit, sys, threading, time
from ovillo.model.ending import leave

def late():
    time.sleep(0.2)
    print("a thread's line")

class Heavy:
    def __del__(self):
        print("taken apart")

heavy = Heavy()
atexit.register(print, "an exit function's line")
threading.Thread(target=late).start()
sys.stdout.write("not yet flushed, ")
{before}
leave(SystemExit({code!r}))
"""


def _run(code: object, before: str = "") -> subprocess.CompletedProcess[str]:
    # Coverage of subprocesses sets a tracer, which is given the process back.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    script = _BODY.format(code=code, before=before)
    return subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("code", [0, 3])
def test_threads_exit_functions_and_output_are_waited_for_and_objects_are_not_taken_apart(code: int) -> None:
    ran = _run(code)
    assert ran.returncode == code, ran.stderr
    assert ran.stdout == "not yet flushed, a thread's line\nan exit function's line\n"


def test_a_tracer_gets_the_process_back() -> None:
    ran = _run(0, before="sys.settrace(lambda *_: None); atexit.register(sys.settrace, None)")
    assert ran.stdout.endswith("an exit function's line\ntaken apart\n")


def test_a_message_for_an_exit_code_is_printed_as_always() -> None:
    ran = _run("the reason")
    assert (ran.returncode, ran.stderr) == (1, "the reason\n")


def test_output_that_cannot_be_written_does_not_change_the_exit_code() -> None:
    ran = _run(5, before="sys.stdout = open('/dev/full', 'w')")
    assert (ran.returncode, ran.stderr) == (5, "")
