"""Switching off what libraries report to their makers, before any of them is loaded (docs/explanation/privacy.md).

Owns the variables. Importing ``ovillo`` sets them, so that they stand in every process of ours, in the processes it starts,
and where ovillo is a library of somebody's program: a library reads them once, when it is loaded or first used.
"""

from __future__ import annotations

import os

#: What says no to reports, and changes nothing else for a program that uses ovillo as a library.
_NO_REPORTS = {
    # onnxruntime: writes an identifier and a database below the home folder and asks for its maker's address.
    "ORT_DISABLE_TELEMETRY": "1",
    # huggingface_hub, which an embedder of another package may bring along.
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
}
#: What a program of its own may want otherwise: only our commands and servers are held to it.
_NO_DOWNLOADS = {"HF_HUB_OFFLINE": "1", "OTEL_SDK_DISABLED": "true"}


def stop_reports() -> None:
    """Whatever was set before: somebody who wants reports has not asked ovillo for them."""
    os.environ.update(_NO_REPORTS)


def stop_downloads() -> None:
    """In a process of ours: no model is fetched, and no traces are sent."""
    os.environ.update(_NO_DOWNLOADS)
