-- What a person had removed for good. A mark is a keyed hash of an id, a folder or a source: it says nothing by itself.
-- ``part_of`` is the mark of the project or source a session was removed with.
CREATE TABLE forgotten (
    namespace_key INTEGER NOT NULL,
    kind TEXT NOT NULL,
    mark BLOB NOT NULL,
    at INTEGER NOT NULL,
    part_of BLOB,
    PRIMARY KEY (namespace_key, kind, mark)
) WITHOUT ROWID;

-- Sessions that were found and not read, with the rule that excludes them and a hash of what the rule said then.
CREATE TABLE excluded (
    place_key INTEGER NOT NULL,
    rule TEXT NOT NULL,
    mark BLOB NOT NULL,
    said BLOB NOT NULL,
    PRIMARY KEY (place_key, rule, mark)
) WITHOUT ROWID;
