-- What ties sessions together, who worked on what for how long, and named contexts.

CREATE TABLE links (
    namespace_key INTEGER NOT NULL,
    from_key INTEGER NOT NULL,
    to_key INTEGER NOT NULL,
    relationship TEXT NOT NULL,
    shared_entities TEXT NOT NULL,
    note TEXT,
    origin TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (from_key, to_key, relationship)
) WITHOUT ROWID;
CREATE INDEX links_by_end ON links (to_key);

-- Pairs of sessions that nobody wants proposed again; the lower key comes first.
CREATE TABLE dismissed_links (
    session_key INTEGER NOT NULL,
    other_key INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (session_key, other_key)
) WITHOUT ROWID;
CREATE INDEX dismissed_links_by_other ON dismissed_links (other_key);

CREATE TABLE tasks (
    namespace_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    llm_name TEXT NOT NULL,
    description TEXT NOT NULL,
    context TEXT,
    session_id TEXT,
    project_id TEXT,
    directory TEXT,
    baseline TEXT,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    summary TEXT,
    files TEXT,
    detected_by TEXT,
    warnings TEXT,
    PRIMARY KEY (namespace_key, id)
) WITHOUT ROWID;
CREATE INDEX tasks_by_start ON tasks (namespace_key, started_at);

-- Entries of all contexts; ``keeper`` is who wrote one without saying where or for how long, else NULL.
CREATE TABLE context_entries (
    namespace_key INTEGER NOT NULL,
    context TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    keeper TEXT,
    stored_at INTEGER NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (namespace_key, context, key)
) WITHOUT ROWID;
CREATE INDEX context_entries_by_end ON context_entries (namespace_key, expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE current_contexts (
    namespace_key INTEGER NOT NULL,
    caller TEXT NOT NULL,
    context TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (namespace_key, caller)
) WITHOUT ROWID;
