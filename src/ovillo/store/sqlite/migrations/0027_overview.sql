-- Stars that people give to sessions, and what lists and statistics count sessions by.

CREATE TABLE stars (session_key INTEGER PRIMARY KEY, at INTEGER NOT NULL);

CREATE INDEX parts_failed ON parts (session_key) WHERE tool_status = 'error';
CREATE INDEX messages_failed ON messages (session_key) WHERE error IS NOT NULL;
-- What people said, by time: calendars ask for a year of it.
CREATE INDEX messages_by_prompt ON messages (created_at, session_key) WHERE role = 'user' AND author = 'human';
CREATE INDEX messages_by_model ON messages (session_key, model) WHERE model IS NOT NULL;
