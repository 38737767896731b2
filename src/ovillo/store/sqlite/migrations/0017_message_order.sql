-- Order of sessions that stand in several files: readers number messages within a file, the store orders the files'
-- messages by time. Sessions in one file, nearly all, keep their reader's numbers and leave both columns empty.

-- Which of the session's files (session_files.number); NULL is the first one.
ALTER TABLE messages ADD COLUMN file INTEGER;
-- The reader's number within that file, where seq is another.
ALTER TABLE messages ADD COLUMN position INTEGER;

CREATE TABLE session_files (
    session_key INTEGER NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (session_key, number)
) WITHOUT ROWID;
