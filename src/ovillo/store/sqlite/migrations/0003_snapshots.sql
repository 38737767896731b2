-- Saved states of sessions. ``base`` is the version whose plain text is the dictionary of this one; without it the row
-- stands alone (a keyframe). ``checksum`` is BLAKE2b (32 bytes) of the plain text, so a row may be encoded anew in place.

CREATE TABLE snapshots (
    key INTEGER PRIMARY KEY,
    session_key INTEGER NOT NULL,
    version INTEGER NOT NULL,
    saved_at INTEGER NOT NULL,
    level INTEGER NOT NULL,
    base INTEGER CHECK (base < version),
    plain_bytes INTEGER NOT NULL,
    checksum BLOB NOT NULL,
    data BLOB NOT NULL
);
CREATE UNIQUE INDEX snapshots_by_version ON snapshots (session_key, version);
