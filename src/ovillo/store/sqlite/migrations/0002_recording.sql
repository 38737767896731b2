-- Live sessions: a count of changes for conditional requests, idempotency keys, summaries.

ALTER TABLE sessions ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
-- Of all searchable text: what the estimate of tokens is made from.
ALTER TABLE sessions ADD COLUMN characters INTEGER NOT NULL DEFAULT 0;

CREATE TABLE idempotency (
    session_key INTEGER NOT NULL,
    key TEXT NOT NULL,
    message_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    digest BLOB NOT NULL,
    PRIMARY KEY (session_key, key)
) WITHOUT ROWID;

CREATE TABLE summaries (
    session_key INTEGER NOT NULL,
    through_seq INTEGER NOT NULL,
    from_seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    text TEXT NOT NULL,
    tokens_before INTEGER NOT NULL,
    tokens_after INTEGER NOT NULL,
    summarizer TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (session_key, through_seq)
) WITHOUT ROWID;
