-- The words in bodies of code, for questions about what it does. Derived from files: it can be made again.

-- A definition without what is defined inside of it, or lines outside of any definition (``symbol_key`` NULL).
CREATE TABLE code_bodies (
    key INTEGER PRIMARY KEY,
    file_key INTEGER NOT NULL,
    symbol_key INTEGER,
    first_line INTEGER NOT NULL,
    last_line INTEGER NOT NULL
);
CREATE INDEX code_bodies_by_file ON code_bodies (file_key);
CREATE INDEX code_bodies_by_symbol ON code_bodies (symbol_key) WHERE symbol_key IS NOT NULL;

-- By the same keys. A term begins with the key of its folder: what one folder holds is never looked at for another.
CREATE VIRTUAL TABLE code_words USING fts5 (
    terms,
    content = '',
    contentless_delete = 1,
    detail = none,
    tokenize = 'ascii'
);
