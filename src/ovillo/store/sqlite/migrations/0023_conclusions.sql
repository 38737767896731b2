-- Sentences that conclude something, by their place in the text of a part. Derived from the parts: all of it can be made again.

CREATE TABLE conclusions (
    session_key INTEGER NOT NULL,
    doc INTEGER NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    kinds INTEGER NOT NULL,
    PRIMARY KEY (session_key, doc, start)
) WITHOUT ROWID;

-- What was read before is read again in the background, from the parts. Until then names are answered from what is known:
-- counted as ``recent`` it is replaced by what is found then, and not added to.
UPDATE mentions SET recent = recent + count, count = 0;
DELETE FROM tracked;
