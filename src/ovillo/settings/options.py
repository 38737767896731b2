"""The table of settings: name, what it may be, default, other names.

Owns which settings there are. Adding one is a line here and a field of ``Settings``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ovillo.settings import values


@dataclass(frozen=True, slots=True)
class Option:
    name: str
    parse: Callable[[Any], Any]
    default: Callable[[], Any]
    #: Names in the environment beside ``OVILLO_`` + the name in capitals.
    aliases: tuple[str, ...] = ()
    secret: bool = False

    @property
    def variables(self) -> tuple[str, ...]:
        return (f"OVILLO_{self.name.upper()}", *self.aliases)


def _default_data_dir() -> Path:
    import platformdirs  # start-up cost: most starts are told their folder or need it only here

    return Path(platformdirs.user_data_dir("ovillo", appauthor=False))


OPTIONS = (
    Option("data_dir", values.path, _default_data_dir),
    Option("embedder", values.name, lambda: "minilm"),
    Option("embedder_url", values.url, lambda: None),
    Option("embedder_model", values.text, lambda: None),
    Option("embedder_key", values.text, lambda: None, secret=True),
    Option("redaction", values.choice("mask", "off"), lambda: "mask"),
    Option("readers", values.names, lambda: ()),
    Option("exclude", values.names, lambda: ()),
    Option("toolsets", values.names, lambda: ("history", "context")),
    Option("read_only", values.flag, lambda: False),
    Option("host", values.text, lambda: "127.0.0.1"),
    Option("port", values.port, lambda: 8765),
    Option("log_level", values.choice("debug", "info", "warning", "error"), lambda: "warning"),
    Option("log_format", values.choice("json", "text"), lambda: "json"),
    Option("log_verbose", values.flag, lambda: False, ("MCP_LOG_VERBOSE",)),
    Option("strict_stdio_logs", values.flag, lambda: True, ("STRICT_STDIO_LOGS",)),
    Option("watch", values.flag, lambda: True),
    Option("allowed_hosts", values.names, lambda: ()),
    Option("allowed_origins", values.names, lambda: ()),
    Option("tls_certificate", values.path, lambda: None),
    Option("tls_key", values.path, lambda: None),
    Option("auth", values.choice("token", "none", "apikey", "jwt"), lambda: "token"),
    Option("jwt_secret", values.text, lambda: None, secret=True),
    Option("jwt_jwks_url", values.url, lambda: None),
    Option("jwt_issuer", values.text, lambda: None),
    Option("jwt_audience", values.text, lambda: "ovillo"),
    Option("jwt_algorithms", values.names, lambda: ()),
    Option("jwt_namespace_claim", values.text, lambda: "namespace"),
    Option("jwt_scope_claim", values.text, lambda: "scope"),
    Option("jwt_default_namespace", values.text, lambda: None),
    Option("public_url", values.url, lambda: None),
    Option("rate_limit", values.whole(0, 100_000_000), lambda: None),
    Option("rate_limit_burst", values.whole(0, 100_000_000), lambda: 0),
    Option("max_pending", values.whole(1, 1_000_000), lambda: 1_000),
    Option("max_streams", values.whole(1, 1_000_000), lambda: 500),
    Option("max_sockets", values.whole(1, 1_000_000), lambda: 1_000),
    Option("max_mcp_sessions", values.whole(1, 1_000_000), lambda: 2_000),
    Option("caller_share", values.whole(1, 100), lambda: 20),
    Option("head_timeout_s", values.seconds, lambda: 10.0),
    Option("body_timeout_s", values.seconds, lambda: 20.0),
    Option("keep_alive_s", values.seconds, lambda: 30.0),
    Option("ping_interval_s", values.seconds, lambda: 20.0),
    Option("summarize", values.flag, lambda: True),
    Option("session_memory", values.choice("summarizing", "trimming"), lambda: "summarizing"),
    Option("max_turns", values.whole(1, 10_000), lambda: 8),
    Option("keep_last_n_turns", values.whole(1, 10_000), lambda: 3),
    Option("context_limit", values.whole(1, 10_000), lambda: 10),
    Option("summarization_threshold", values.whole(2, 1_000_000), lambda: 50),
    Option("keep_last_messages", values.whole(1, 1_000_000), lambda: 20),
    Option("summary_max_tokens", values.whole(50, 100_000), lambda: 500),
    Option("summarization_prompt", values.text, lambda: "general"),
    Option("summarizer", values.text, lambda: "extractive"),
    Option("summarizer_url", values.url, lambda: None),
    Option("summarizer_model", values.text, lambda: None),
    Option("summarizer_key", values.text, lambda: None, secret=True),
    Option("summarizer_timeout_s", values.seconds, lambda: 30.0),
    Option("retention_days", values.whole(0, 36_500), lambda: 0),
    Option("retention", values.days_by_kind, dict),
    Option("entity_tracking", values.flag, lambda: True),
    Option("track_functions", values.flag, lambda: True),
    Option("track_classes", values.flag, lambda: True),
    Option("track_variables", values.flag, lambda: True),
    Option("code_indexing", values.flag, lambda: True),
    Option("code_index_frequency", values.choice("on_change", "on_demand"), lambda: "on_change"),
    Option("code_extensions", values.names, lambda: ()),
    Option("code_exclude", values.names, lambda: ()),
    Option("knowledge_files", values.names, lambda: ()),
    Option("knowledge_base", values.path, lambda: None),
    Option("top_k", values.whole(1, 100), lambda: 8),
    Option("rerank_top", values.whole(1, 100), lambda: 3),
    Option("min_score", values.share, lambda: 0.75),
    Option("use_hybrid", values.flag, lambda: True),
    Option("hybrid_alpha", values.share, lambda: 0.7),
    Option("chunk_min_tokens", values.whole(1, 10_000), lambda: 150),
    Option("chunk_max_tokens", values.whole(20, 10_000), lambda: 450),
    Option("chunk_overlap_percent", values.whole(0, 75), lambda: 25),
    Option("chunk_preserve_structure", values.flag, lambda: True),
    Option("threshold_factual", values.share, lambda: 0.78),
    Option("threshold_procedural", values.share, lambda: 0.72),
    Option("threshold_conceptual", values.share, lambda: 0.65),
    Option("threshold_temporal", values.share, lambda: 0.85),
    Option("abstention_enabled", values.flag, lambda: True),
    Option("audit_queries", values.flag, lambda: True),
    Option("audit_sessions", values.choice("off", "remote", "all"), lambda: "remote"),
    Option("audit_days", values.whole(0, 36_500), lambda: 365),
)

#: Names that specifications promise for features of later issues (DESIGN section 14). Other programs use the same
#: variables, so a value that means nothing to us is shown and never an error.
LATER = (
    "UNIFIED_MEMORY",
    "SHARED_MEMORY_DIR",
    "CHROMA_HOST",
    "CHROMA_PORT",
    "CHROMA_TENANT",
    "CHROMA_DATABASE",
    "CHROMA_COLLECTION",
    "MCP_OCS_FORCE_JSON",
    "ENABLE_ORCH_CONTEXT",
    "ORCH_CONTEXT_MODE",
    "CONTEXT_TOPK",
    "CONTEXT_TIMEOUT_MS",
    "CONTEXT_SUMMARY_BYTES",
)
#: Variables that are read elsewhere: the file itself, who is calling, the token as clients send it,
#: a secret for one command. Readers say theirs.
ELSEWHERE = ("OVILLO_CONFIG", "OVILLO_SESSION_ID", "OVILLO_TOKEN", "OVILLO_BACKUP_PASSPHRASE")
