-- Keys for the HTTP server: an HMAC of each, and what it allows in its namespace.

CREATE TABLE access_keys (
    id TEXT PRIMARY KEY,
    namespace_key INTEGER NOT NULL,
    name TEXT NOT NULL,
    digest BLOB NOT NULL,
    role TEXT,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER
) WITHOUT ROWID;
