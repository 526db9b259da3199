/** Adds the ids of the keys that seal records, and the record that a probe of the store writes. */
export const surroundings = `
CREATE TABLE sealing_keys (key_id text PRIMARY KEY);

CREATE TABLE probe (id integer PRIMARY KEY CHECK (id = 1), count bigint NOT NULL);
INSERT INTO probe VALUES (1, 0);
`;
