-- Sessions, messages and parts are the truth; fts, vocabulary, trigrams and vectors are derived and can be rebuilt.
-- Public keys begin with the namespace; integer keys stand in for (namespace, id) inside one file.

CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE namespaces (key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

CREATE TABLE places (
    key INTEGER PRIMARY KEY,
    namespace_key INTEGER NOT NULL,
    reader TEXT NOT NULL,
    path TEXT NOT NULL,
    layout TEXT NOT NULL DEFAULT '',
    last_scan_at INTEGER,
    error TEXT,
    redactions TEXT NOT NULL DEFAULT '{}',
    UNIQUE (namespace_key, reader, path)
);

CREATE TABLE cursors (
    place_key INTEGER NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (place_key, key)
) WITHOUT ROWID;

CREATE TABLE skipped (
    place_key INTEGER NOT NULL,
    file TEXT NOT NULL,
    position TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (place_key, file, position)
) WITHOUT ROWID;

CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    namespace_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    source TEXT NOT NULL,
    precedence INTEGER NOT NULL DEFAULT 0,
    project_id TEXT,
    directory TEXT,
    git_branch TEXT,
    title TEXT,
    parent_id TEXT,
    forked_from TEXT,
    kind TEXT NOT NULL,
    agent TEXT,
    model TEXT,
    type TEXT,
    status TEXT NOT NULL,
    created_at INTEGER,
    updated_at INTEGER,
    deleted_at_source INTEGER NOT NULL DEFAULT 0,
    message_count INTEGER NOT NULL DEFAULT 0,
    part_count INTEGER NOT NULL DEFAULT 0,
    prompt_count INTEGER NOT NULL DEFAULT 0,
    first_prompt TEXT,
    first_doc INTEGER,
    last_doc INTEGER,
    title_doc INTEGER,
    extra TEXT NOT NULL DEFAULT '{}',
    UNIQUE (namespace_key, id)
);
CREATE INDEX sessions_by_update ON sessions (namespace_key, updated_at DESC, id DESC);
CREATE INDEX sessions_by_parent ON sessions (namespace_key, parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX sessions_by_origin ON sessions (namespace_key, forked_from) WHERE forked_from IS NOT NULL;
CREATE INDEX sessions_by_title_doc ON sessions (title_doc) WHERE title_doc IS NOT NULL;

CREATE TABLE session_places (
    place_key INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    PRIMARY KEY (place_key, session_key)
) WITHOUT ROWID;

CREATE TABLE messages (
    key INTEGER PRIMARY KEY,
    session_key INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    role TEXT NOT NULL,
    author TEXT NOT NULL,
    parent_id TEXT,
    agent TEXT,
    model TEXT,
    provider TEXT,
    created_at INTEGER,
    completed_at INTEGER,
    input INTEGER,
    output INTEGER,
    reasoning INTEGER,
    cache_read INTEGER,
    cache_write INTEGER,
    usage_source TEXT,
    cost REAL,
    error TEXT,
    finish TEXT,
    flags INTEGER NOT NULL DEFAULT 0,
    inherited_from TEXT,
    metadata TEXT
);
CREATE UNIQUE INDEX messages_by_id ON messages (id, session_key);
CREATE INDEX messages_by_order ON messages (session_key, seq);

CREATE TABLE parts (
    key INTEGER PRIMARY KEY,
    session_key INTEGER NOT NULL,
    message_key INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    type INTEGER NOT NULL,
    role INTEGER NOT NULL,
    flags INTEGER NOT NULL DEFAULT 0,
    length INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER,
    text TEXT,
    tool_name TEXT,
    call_id TEXT,
    tool_status TEXT,
    tool TEXT,
    output TEXT,
    additions INTEGER,
    deletions INTEGER,
    extra TEXT
);
CREATE INDEX parts_by_message ON parts (message_key, seq);
CREATE INDEX parts_by_id ON parts (session_key, id);
-- Holds all that statistics sum up, so that a session of 16,735 parts is summed without reading its texts.
CREATE INDEX parts_by_kind ON parts (session_key, type, tool_name, tool_status, additions, deletions, message_key);
CREATE INDEX parts_by_call ON parts (call_id) WHERE call_id IS NOT NULL;
-- Flag 2 marks what may be embedded (said by people and models).
CREATE INDEX parts_to_embed ON parts (key) WHERE flags & 2;

CREATE TABLE paths (key INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE touches (
    path_key INTEGER NOT NULL,
    part_key INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    at INTEGER,
    PRIMARY KEY (path_key, part_key)
) WITHOUT ROWID;
CREATE INDEX touches_by_session ON touches (session_key, path_key);

-- Pairs of sessions that hold messages of the same id; a fork's lineage is decided once both are read.
CREATE TABLE overlaps (
    namespace_key INTEGER NOT NULL,
    session_a TEXT NOT NULL,
    session_b TEXT NOT NULL,
    PRIMARY KEY (namespace_key, session_a, session_b)
) WITHOUT ROWID;

CREATE TABLE changes (
    namespace_key INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    ref TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (namespace_key, seq)
) WITHOUT ROWID;

-- Terms come ready from the analyzer, joined by spaces; the tokenizer only has to split there.
CREATE VIRTUAL TABLE fts USING fts5 (
    title, human, assistant, tool,
    content = '', contentless_delete = 1,
    tokenize = "ascii tokenchars '!""#$%&()*+,-./:;<=>?@[\]^_`{|}~'"
);
CREATE VIRTUAL TABLE fts_terms USING fts5vocab (fts, row);
INSERT INTO fts (fts, rank) VALUES ('hashsize', 8388608);
INSERT INTO fts (fts, rank) VALUES ('automerge', 8);
INSERT INTO fts (fts, rank) VALUES ('crisismerge', 32);

-- Words as written and the term they became: substring search finds words here, then documents by term.
-- One word may have become different terms in texts of different languages.
CREATE TABLE vocabulary (
    key INTEGER PRIMARY KEY, surface TEXT NOT NULL, term TEXT NOT NULL, UNIQUE (surface, term)
);
CREATE VIRTUAL TABLE trigrams USING fts5 (
    surface, content = 'vocabulary', content_rowid = 'key', tokenize = 'trigram', detail = 'none'
);

CREATE TABLE embedding_models (key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, state TEXT NOT NULL DEFAULT '{}');
CREATE TABLE vector_bits (
    model_key INTEGER NOT NULL, doc INTEGER NOT NULL, bits BLOB NOT NULL, PRIMARY KEY (model_key, doc)
) WITHOUT ROWID;
CREATE TABLE vectors (
    model_key INTEGER NOT NULL, doc INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (model_key, doc)
) WITHOUT ROWID;
