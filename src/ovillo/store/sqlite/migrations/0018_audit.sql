-- Who read or removed which session. Each entry is chained to the one before it.

CREATE TABLE audit (
    seq INTEGER PRIMARY KEY,
    namespace_key INTEGER NOT NULL,
    at INTEGER NOT NULL,
    principal TEXT NOT NULL,
    key_id TEXT,
    door TEXT NOT NULL,
    action TEXT NOT NULL,
    session_id TEXT NOT NULL,
    times INTEGER NOT NULL,
    chain BLOB NOT NULL
);

CREATE INDEX audit_by_session ON audit (namespace_key, session_id);
