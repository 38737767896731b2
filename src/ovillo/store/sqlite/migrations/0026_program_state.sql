-- What programs keep beside a session to go on from: JSON values by name, on shelves. ``key`` is the order of arrival; a value
-- that is put in the place of another one keeps it.

CREATE TABLE program_shelves (
    key INTEGER PRIMARY KEY,
    session_key INTEGER NOT NULL,
    name TEXT NOT NULL,
    changed_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX program_shelves_by_session ON program_shelves (session_key, name);

CREATE TABLE program_state (
    key INTEGER PRIMARY KEY,
    shelf_key INTEGER NOT NULL,
    name TEXT NOT NULL,
    value BLOB NOT NULL
);
CREATE UNIQUE INDEX program_state_by_name ON program_state (shelf_key, name);
