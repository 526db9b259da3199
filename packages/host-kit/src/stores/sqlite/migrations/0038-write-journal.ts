/**
 * The writes of events and deliveries as rows of one journal, so that a commit writes few pages. The store moves them to
 * their tables later, many at a time. While a host uses the journal, `write_journal_use` has the former content of
 * `schema_readable_by`: a host that does not know the journal must not open the file until it is empty.
 */
export const writeJournal = `
CREATE TABLE write_journal (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  -- JSON: a list of entries, each as the list of its columns.
  entries TEXT NOT NULL,
  -- The bodies of deliveries, one after another.
  bodies BLOB
) STRICT;
CREATE TABLE write_journal_use (readable_by INTEGER NOT NULL) STRICT;
`;
