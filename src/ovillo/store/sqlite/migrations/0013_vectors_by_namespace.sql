-- What a model's vectors rest on belongs to one namespace: a key of embedding_models stands for (namespace, model).
-- The namespace that was there first keeps its keys, so that a database with one namespace moves no vector.

CREATE TABLE models_by_namespace (
    key INTEGER PRIMARY KEY,
    namespace_key INTEGER NOT NULL,
    name TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT '{}',
    -- Components of a vector; unknown until the next write to a model of an earlier schema.
    dimension INTEGER,
    -- Of vector_writes, the number of the last: what is held in memory is compared with it.
    writes INTEGER NOT NULL DEFAULT 0,
    UNIQUE (namespace_key, name)
);
INSERT INTO models_by_namespace (key, namespace_key, name, state)
SELECT m.key, n.key, m.name, m.state FROM embedding_models m, namespaces n
WHERE n.key = (SELECT min(key) FROM namespaces);
INSERT INTO models_by_namespace (namespace_key, name, state)
SELECT n.key, m.name, m.state FROM embedding_models m, namespaces n
WHERE n.key > (SELECT min(key) FROM namespaces);

-- (document, old key, new key) of vectors that belong to a later namespace.
CREATE TABLE moved (doc INTEGER NOT NULL, old INTEGER NOT NULL, new INTEGER NOT NULL);
INSERT INTO moved
SELECT v.doc, v.model_key, n.key
FROM (
    SELECT p.key AS doc, s.namespace_key FROM sessions s JOIN parts p ON p.session_key = s.key
    WHERE s.namespace_key > (SELECT min(key) FROM namespaces)
    UNION ALL
    SELECT title_doc, namespace_key FROM sessions
    WHERE title_doc IS NOT NULL AND namespace_key > (SELECT min(key) FROM namespaces)
) d
JOIN embedding_models m
JOIN vector_bits v ON v.model_key = m.key AND v.doc = d.doc
JOIN models_by_namespace n ON n.namespace_key = d.namespace_key AND n.name = m.name;
INSERT INTO vector_bits SELECT w.new, w.doc, v.bits FROM moved w JOIN vector_bits v ON v.model_key = w.old AND v.doc = w.doc;
INSERT INTO vectors SELECT w.new, w.doc, v.bytes FROM moved w JOIN vectors v ON v.model_key = w.old AND v.doc = w.doc;
DELETE FROM vector_bits WHERE (model_key, doc) IN (SELECT old, doc FROM moved);
DELETE FROM vectors WHERE (model_key, doc) IN (SELECT old, doc FROM moved);
DROP TABLE moved;

-- Knowledge is kept by what was embedded: each namespace that has it gets its own.
INSERT INTO knowledge_vectors
SELECT n.key, v.meaning, v.whole, v.bits, v.bytes
FROM knowledge_vectors v
JOIN embedding_models m ON m.key = v.model_key
JOIN models_by_namespace n ON n.name = m.name AND n.key <> m.key
WHERE EXISTS (
    SELECT 1 FROM knowledge_chunks c JOIN knowledge_documents d ON d.key = c.document_key
    WHERE c.meaning = v.meaning AND d.namespace_key = n.namespace_key
);
DELETE FROM knowledge_vectors WHERE NOT EXISTS (
    SELECT 1 FROM knowledge_chunks c
    JOIN knowledge_documents d ON d.key = c.document_key
    JOIN models_by_namespace n ON n.namespace_key = d.namespace_key
    WHERE c.meaning = knowledge_vectors.meaning AND n.key = knowledge_vectors.model_key
);

DROP TABLE embedding_models;
ALTER TABLE models_by_namespace RENAME TO embedding_models;

-- Documents of each write, packed as 64-bit numbers: what is held in memory takes in what is new without reading all.
CREATE TABLE vector_writes (
    model_key INTEGER NOT NULL,
    number INTEGER NOT NULL,
    docs BLOB NOT NULL,
    PRIMARY KEY (model_key, number)
) WITHOUT ROWID;

-- By session, and so by namespace: what a namespace has to embed is counted without looking at another's.
DROP INDEX parts_to_embed;
CREATE INDEX parts_to_embed ON parts (session_key) WHERE flags & 2;
