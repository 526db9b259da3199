/**
 * The writes of events and deliveries as rows of one journal, so that a commit writes few pages. The store moves them to their tables
 * later, many at a time.
 */
export const journal = `
CREATE TABLE write_journal (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  -- JSON: a list of entries, each as the list of its columns.
  entries TEXT NOT NULL,
  -- The bodies of deliveries, one after another.
  bodies BLOB
) STRICT;
`;
