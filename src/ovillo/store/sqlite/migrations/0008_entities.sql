-- Names that sessions speak of, and where. Derived from the parts: all of it can be made again.

CREATE TABLE entities (
    key INTEGER PRIMARY KEY,
    namespace_key INTEGER NOT NULL,
    type INTEGER NOT NULL,
    -- The last piece of the name (method, file name), without case and underscores: what look-ups begin with.
    tail TEXT NOT NULL,
    name TEXT NOT NULL
);
CREATE UNIQUE INDEX entities_by_tail ON entities (namespace_key, tail, type, name);

-- One row for a session and an entity. ``places`` holds the first and the last few places as variable-length integers;
-- ``recent`` counts those in parts that are read again (they may still grow), ``count`` all others.
CREATE TABLE mentions (
    session_key INTEGER NOT NULL,
    entity_key INTEGER NOT NULL,
    count INTEGER NOT NULL,
    recent INTEGER NOT NULL,
    evidence INTEGER NOT NULL,
    last_doc INTEGER NOT NULL,
    file_key INTEGER,
    places BLOB NOT NULL,
    PRIMARY KEY (session_key, entity_key)
) WITHOUT ROWID;
CREATE INDEX mentions_by_entity ON mentions (entity_key, session_key);

-- How far each session was read: documents up to ``settled`` for good, up to ``through`` once; ``characters`` tells
-- whether a part has grown since.
CREATE TABLE tracked (
    session_key INTEGER PRIMARY KEY,
    settled INTEGER NOT NULL,
    through INTEGER NOT NULL,
    characters INTEGER NOT NULL
);
