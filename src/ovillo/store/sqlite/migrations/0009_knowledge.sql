-- Knowledge documents: chosen files, cut into chunks that only refer to lines of them. No text of a file is kept.

CREATE TABLE knowledge_revisions (
    namespace_key INTEGER PRIMARY KEY,
    revision INTEGER NOT NULL
);

CREATE TABLE knowledge_documents (
    key INTEGER PRIMARY KEY,
    namespace_key INTEGER NOT NULL,
    path TEXT NOT NULL,
    name TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    digest BLOB NOT NULL,
    cutting TEXT NOT NULL,
    analyzer TEXT NOT NULL,
    lines INTEGER NOT NULL,
    added_at INTEGER NOT NULL,
    read_at INTEGER NOT NULL,
    problem TEXT,
    UNIQUE (namespace_key, path),
    UNIQUE (namespace_key, name)
);

-- AUTOINCREMENT: a key is never used again, so that a search that is under way finds the chunk it meant or none.
CREATE TABLE knowledge_chunks (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    document_key INTEGER NOT NULL,
    number INTEGER NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    text_hash BLOB NOT NULL,
    meaning BLOB NOT NULL
);
CREATE INDEX knowledge_chunks_by_document ON knowledge_chunks (document_key, start_line);
CREATE INDEX knowledge_chunks_by_meaning ON knowledge_chunks (meaning);

-- As the main index: terms come ready from the analyzer.
CREATE VIRTUAL TABLE knowledge_fts USING fts5 (
    text,
    content = '', contentless_delete = 1,
    tokenize = "ascii tokenchars '!""#$%&()*+,-./:;<=>?@[\]^_`{|}~'"
);

-- By what was embedded: a chunk that moves, or comes back, has its vectors already.
CREATE TABLE knowledge_vectors (
    model_key INTEGER NOT NULL,
    meaning BLOB NOT NULL,
    whole BLOB NOT NULL,
    bits BLOB NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (model_key, meaning)
) WITHOUT ROWID;
