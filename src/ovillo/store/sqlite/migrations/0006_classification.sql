-- When type and status of a mirrored session were told from its messages.

ALTER TABLE sessions ADD COLUMN classified_at INTEGER NOT NULL DEFAULT 0;
CREATE INDEX sessions_by_status ON sessions (namespace_key, status, updated_at) WHERE status = 'active';
