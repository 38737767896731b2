-- Vectors of definitions, by a hash of what is embedded of them: an edit that changes neither name nor documentation keeps
-- its vector. Derived: all of it can be made again.

CREATE TABLE code_vectors (
    root_key INTEGER NOT NULL,
    model TEXT NOT NULL,
    meaning BLOB NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (root_key, model, meaning)
) WITHOUT ROWID;
