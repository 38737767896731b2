"""Effective settings: flag > environment > ``ovillo.toml`` > default.

Owns names, defaults, what a value may be, and where it came from. Imports only the model, so that every
interface may show settings; what is built from them is decided in ``ovillo.app`` (ADR 0003).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ovillo.settings import sources
from ovillo.settings.options import LATER, OPTIONS

__all__ = ["LATER", "Settings", "load_settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """``origins`` tells for each field name where its value came from: ``flag --NAME``, ``environment NAME``,
    ``file PATH`` or ``default``."""

    data_dir: Path
    home: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    #: A model by its name, or ``none``; which there are, ``search.embedders`` knows.
    embedder: str = "minilm"
    embedder_url: str | None = None
    embedder_model: str | None = None
    embedder_key: str | None = None
    #: ``mask`` (default) or ``off``.
    redaction: str = "mask"
    #: Readers to use; empty means all.
    readers: tuple[str, ...] = ()
    #: Never read: names of readers, folders as in a gitignore file (``~/secret``, ``/srv/*/private``, ``name``).
    exclude: tuple[str, ...] = ()
    toolsets: tuple[str, ...] = ("history", "context")
    read_only: bool = False
    host: str = "127.0.0.1"
    port: int = 8765
    log_level: str = "warning"
    #: Of ``ovillo serve``: ``json`` (a document a line) or ``text``.
    log_format: str = "json"
    #: Detail in the log of the MCP server; the contents of memories are never logged.
    log_verbose: bool = False
    #: Nothing but the protocol on standard output of the stdio server. It is always kept so.
    strict_stdio_logs: bool = True
    watch: bool = True
    #: Names by which this server may be called, beside those of loopback.
    allowed_hosts: tuple[str, ...] = ()
    #: Whose pages may use it: origins (``https://app.example``) or names, beside those of loopback.
    allowed_origins: tuple[str, ...] = ()
    #: PEM files; with them the server speaks HTTPS only.
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    #: Who may come in over HTTP: ``token`` (this user, loopback only), ``none`` (all of this machine), ``apikey`` or ``jwt``.
    auth: str = "token"
    #: Tokens are signed with this secret, or with a key published at ``jwt_jwks_url``; never both.
    jwt_secret: str | None = None
    jwt_jwks_url: str | None = None
    #: What ``iss`` has to be. Tokens of a shared secret need none: who holds the secret is the issuer.
    jwt_issuer: str | None = None
    jwt_audience: str = "ovillo"
    #: Empty means HS256 with a secret, and RS256, ES256 and EdDSA with published keys.
    jwt_algorithms: tuple[str, ...] = ()
    jwt_namespace_claim: str = "namespace"
    jwt_scope_claim: str = "scope"
    #: For tokens without the claim; without it they are refused.
    jwt_default_namespace: str | None = None
    #: Address under which clients know this server, where a proxy stands before it.
    public_url: str | None = None
    #: Requests a minute of one caller; 0 is no limit, ``None`` is none with ``auth`` token or none and 60,000 otherwise.
    rate_limit: int | None = None
    #: How many may come at once; 0 is a tenth of a minute's.
    rate_limit_burst: int = 0
    #: What the server holds at once: requests that are being answered, event streams, WebSockets, MCP sessions.
    max_pending: int = 1_000
    max_streams: int = 500
    max_sockets: int = 1_000
    max_mcp_sessions: int = 2_000
    #: Of each of them, what one caller may hold (percent).
    caller_share: int = 20
    #: How long a client may keep the server waiting for the head of a request, and for its body (seconds). A body gets more
    #: while it comes.
    head_timeout_s: float = 10.0
    body_timeout_s: float = 20.0
    #: How long a connection stays open between two requests, and a WebSocket that answers no ping (twice this; seconds).
    keep_alive_s: float = 30.0
    ping_interval_s: float = 20.0
    #: Rolling summaries: off leaves sessions as they are.
    summarize: bool = True
    #: What ``view`` gives a model: ``summarizing`` or ``trimming``.
    session_memory: str = "summarizing"
    max_turns: int = 8
    keep_last_n_turns: int = 3
    context_limit: int = 10
    summarization_threshold: int = 50
    keep_last_messages: int = 20
    summary_max_tokens: int = 500
    summarization_prompt: str = "general"
    summarizer: str = "extractive"
    summarizer_url: str | None = None
    summarizer_model: str | None = None
    summarizer_key: str | None = None
    summarizer_timeout_s: float = 30.0
    #: Days after which recorded sessions may be removed; 0 keeps them for ever.
    retention_days: int = 0
    #: Exceptions to that: ``type``, ``namespace/type`` or ``namespace/*`` -> days.
    retention: Mapping[str, int] = field(default_factory=dict)
    #: Read sessions for the names in them.
    entity_tracking: bool = True
    #: Which names count: functions and methods, classes, and names nothing tells the kind of.
    track_functions: bool = True
    track_classes: bool = True
    track_variables: bool = True
    #: Folders of code may be indexed; what is indexed is read again when it changes, or only when somebody asks.
    code_indexing: bool = True
    code_index_frequency: str = "on_change"
    #: Endings of files the code index reads (``.py``); empty means all it knows.
    code_extensions: tuple[str, ...] = ()
    #: Names of folders it leaves out, beside those that tools fill.
    code_exclude: tuple[str, ...] = ()
    #: What ``knowledge add`` reads when nothing is named, and the folder these names are relative to.
    knowledge_files: tuple[str, ...] = ()
    knowledge_base: Path | None = None
    #: Knowledge documents: most hits, how many of the first differ in what they quote, threshold of what is no question.
    top_k: int = 8
    rerank_top: int = 3
    min_score: float = 0.75
    #: Words beside meaning, and what meaning weighs then.
    use_hybrid: bool = True
    hybrid_alpha: float = 0.7
    chunk_min_tokens: int = 150
    chunk_max_tokens: int = 450
    chunk_overlap_percent: int = 25
    chunk_preserve_structure: bool = True
    #: What a score must reach, by type of question.
    threshold_factual: float = 0.78
    threshold_procedural: float = 0.72
    threshold_conceptual: float = 0.65
    threshold_temporal: float = 0.85
    abstention_enabled: bool = True
    #: One line a query in ``logs/audit.jsonl`` of the data folder.
    audit_queries: bool = True
    #: Who read or removed which session: ``remote`` (over HTTP, and every removal), ``all``, ``off``; kept for days.
    audit_sessions: str = "remote"
    audit_days: int = 365
    origins: Mapping[str, str] = field(default_factory=dict)
    #: The ``ovillo.toml`` that is looked at, whether or not it exists.
    config_file: Path | None = None
    #: Settings of the specifications whose feature comes later: name -> (value, origin). Read and shown, not used.
    later: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    #: What the configuration file says that means nothing here.
    file_warnings: tuple[str, ...] = ()
    #: Variables that are read beside settings; asked when warnings are.
    other_variables: Callable[[], Iterable[str]] = field(default=tuple, compare=False, repr=False)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Things that are not wrong enough to stop for, such as ``OVILLO_`` variables nobody knows."""
        return (*self.file_warnings, *sources.unknown_variables(self.environment, self.other_variables))

    @property
    def secrets(self) -> tuple[str, ...]:
        """Names of settings that are never shown."""
        return tuple(option.name for option in OPTIONS if option.secret)

    @property
    def database(self) -> Path:
        return self.data_dir / "ovillo.db"

    @property
    def has_retention(self) -> bool:
        """Whether some recorded sessions are removed after some days."""
        return bool(self.retention_days or any(self.retention.values()))

    @property
    def follows_code(self) -> bool:
        """Whether servers keep indexed folders up to date without being asked."""
        return self.code_indexing and self.code_index_frequency == "on_change"


def load_settings(
    environment: Mapping[str, str],
    flags: Mapping[str, Any] | None = None,
    *,
    config: Path | None = None,
    other_variables: Callable[[], Iterable[str]] = tuple,
) -> Settings:
    """The effective settings. ``flags`` holds fields given on the command line (``None`` means not given);
    ``other_variables`` tells which variables are read beside settings, so that no warning names them.

    Raises InvalidInput naming the setting, its value, where it stands and what is allowed.
    """
    path, named = sources.config_path(environment, config)
    file, told = sources.read_file(path, must_exist=named)
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for option in OPTIONS:
        value, origin = sources.value(option, given, environment, file, path)
        values[option.name], origins[option.name] = value, origin
    return Settings(
        home=sources.home(environment),
        environment=dict(environment),
        origins=origins,
        config_file=path,
        later=sources.later(environment, file, path),
        file_warnings=tuple(told),
        other_variables=other_variables,
        **values,
    )
