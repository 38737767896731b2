-- Memories of five layers with where they came from, their index of terms, and procedures that run.
CREATE TABLE memories (
    key INTEGER PRIMARY KEY,
    namespace_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    layer TEXT NOT NULL,
    name TEXT NOT NULL,
    text TEXT NOT NULL,
    value TEXT NOT NULL,
    kind TEXT NOT NULL,
    tags TEXT NOT NULL,
    participants TEXT NOT NULL,
    importance INTEGER NOT NULL,
    origin TEXT NOT NULL,
    owner TEXT NOT NULL,
    author TEXT,
    session_id TEXT,
    message_id TEXT,
    source TEXT,
    evidence TEXT,
    trust TEXT NOT NULL,
    state TEXT NOT NULL,
    audience TEXT NOT NULL,
    project TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    valid_from INTEGER,
    valid_to INTEGER,
    superseded_by TEXT,
    reason TEXT,
    digest TEXT NOT NULL,
    uses INTEGER NOT NULL,
    used_at INTEGER,
    UNIQUE (namespace_key, id)
);
CREATE INDEX memories_by_name ON memories (namespace_key, layer, name);
CREATE INDEX memories_by_time ON memories (namespace_key, created_at, id);
CREATE INDEX memories_by_digest ON memories (namespace_key, digest);
CREATE INDEX memories_by_session ON memories (namespace_key, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX memories_by_end ON memories (namespace_key, expires_at) WHERE expires_at IS NOT NULL;

-- As the main index: terms come ready from the analyzer.
CREATE VIRTUAL TABLE memory_fts USING fts5 (
    text,
    content = '', contentless_delete = 1,
    tokenize = "ascii tokenchars '!""#$%&()*+,-./:;<=>?@[\]^_`{|}~'"
);

CREATE TABLE procedure_runs (
    namespace_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    procedure_id TEXT NOT NULL,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    step TEXT,
    value TEXT NOT NULL,
    owner TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (namespace_key, id)
) WITHOUT ROWID;
CREATE INDEX procedure_runs_by_time ON procedure_runs (namespace_key, updated_at);
