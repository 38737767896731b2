"""Taking a session out of ovillo, as a file that stands on its own: ``service.Transfer``.

Owns the forms (JSON, JSONL, Markdown, HTML, PDF), file names, and making recorded text safe to print. Reads
through the session services only. Imports nothing here: the command line needs ``plain_text`` at every start.
"""
