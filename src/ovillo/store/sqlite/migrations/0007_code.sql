-- The code index: what is defined where, and what calls and imports what. Derived from files: it can be made again.

CREATE TABLE code_revisions (
    namespace_key INTEGER PRIMARY KEY,
    revision INTEGER NOT NULL
);

CREATE TABLE code_roots (
    key INTEGER PRIMARY KEY,
    namespace_key INTEGER NOT NULL,
    path TEXT NOT NULL,
    indexed_at INTEGER,
    facts TEXT NOT NULL DEFAULT '{}',
    UNIQUE (namespace_key, path)
);

-- ``tail`` is the last name of the path, without its folders.
CREATE TABLE code_files (
    key INTEGER PRIMARY KEY,
    root_key INTEGER NOT NULL,
    path TEXT NOT NULL,
    tail TEXT NOT NULL,
    language TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    digest BLOB NOT NULL,
    lines INTEGER NOT NULL,
    is_test INTEGER NOT NULL,
    imports TEXT NOT NULL,
    exports TEXT NOT NULL,
    tickets TEXT NOT NULL,
    error TEXT,
    skipped TEXT,
    UNIQUE (root_key, path)
);
CREATE INDEX code_files_by_tail ON code_files (root_key, tail);

-- Kept apart from the file: a change of the file says nothing about its commits.
CREATE TABLE code_history (
    root_key INTEGER NOT NULL,
    path TEXT NOT NULL,
    commit_id TEXT NOT NULL,
    committed_at INTEGER NOT NULL,
    tickets TEXT NOT NULL,
    PRIMARY KEY (root_key, path)
) WITHOUT ROWID;

-- AUTOINCREMENT: an id is never used again, so that a cache can tell new rows from old.
CREATE TABLE code_symbols (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    root_key INTEGER NOT NULL,
    file_key INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    qualified_name TEXT NOT NULL,
    parent TEXT,
    signature TEXT NOT NULL,
    doc TEXT NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    bases TEXT,
    flags INTEGER NOT NULL
);
CREATE INDEX code_symbols_by_file ON code_symbols (file_key);
CREATE INDEX code_symbols_by_name ON code_symbols (name COLLATE NOCASE, root_key);

CREATE TABLE code_calls (
    name TEXT NOT NULL,
    root_key INTEGER NOT NULL,
    file_key INTEGER NOT NULL,
    caller INTEGER,
    receiver TEXT,
    line INTEGER NOT NULL
);
CREATE INDEX code_calls_by_name ON code_calls (name, root_key);
CREATE INDEX code_calls_by_file ON code_calls (file_key);
