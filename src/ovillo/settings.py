"""Effective settings: flag > environment > ``ovillo.toml`` > default. (Being written.)

Owns names, defaults and where a value came from. Imports only the model, so that every interface may show it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Settings:
    """``origins`` tells for each field name where its value came from (flag, environment, file, default)."""

    data_dir: Path
    home: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    #: ``minilm`` (default), ``none``, or ``openai`` for a /v1/embeddings endpoint.
    embedder: str = "minilm"
    embedder_url: str | None = None
    embedder_model: str | None = None
    embedder_key: str | None = None
    #: ``mask`` (default) or ``off``.
    redaction: str = "mask"
    #: Readers to use; empty means all.
    readers: tuple[str, ...] = ()
    toolsets: tuple[str, ...] = ("history", "context")
    read_only: bool = False
    host: str = "127.0.0.1"
    port: int = 8765
    log_level: str = "warning"
    watch: bool = True
    origins: Mapping[str, str] = field(default_factory=dict)

    @property
    def database(self) -> Path:
        return self.data_dir / "ovillo.db"
