"""The embedded engine: SQLite in one file. Nothing outside this package speaks SQL to ovillo's database."""

from ovillo.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
