-- Vectors of memories: sign bits and four-bit values of each passage of one. Numbers grow with every write, so that what is held in
-- memory takes in what is new without reading all.
CREATE TABLE memory_vectors (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    model_key INTEGER NOT NULL,
    memory_key INTEGER NOT NULL,
    bits BLOB NOT NULL,
    bytes BLOB NOT NULL
);
CREATE UNIQUE INDEX memory_vectors_by_memory ON memory_vectors (memory_key, model_key);
CREATE INDEX memory_vectors_by_model ON memory_vectors (model_key, number);
