/** Adds the ids of the keys that seal records, and the record that a probe of the store writes. */
export const surroundings = `
CREATE TABLE sealing_keys (key_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

CREATE TABLE probe (id INTEGER PRIMARY KEY CHECK (id = 1), filler BLOB NOT NULL) STRICT;
INSERT INTO probe VALUES (1, zeroblob(16384));
`;
