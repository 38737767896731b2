"""Taking a session out of ovillo, as a file that stands on its own.

Owns the forms (JSON, JSONL, Markdown, HTML, PDF) and file names. Reads through the session services only.
"""

from ovillo.sessions.transfer.service import FORMATS, Export, Transfer

__all__ = ["FORMATS", "Export", "Transfer"]
