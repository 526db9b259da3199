/**
 * The attempts of a transaction as one row, so that a settlement writes one page instead of one for each subscription.
 * The store moves them to `attempts` later, many of one subscription at a time.
 */
export const attemptJournal = `
CREATE TABLE attempt_journal (
  id INTEGER PRIMARY KEY,
  -- JSON: a list of attempts, each as the list of its columns.
  attempts TEXT NOT NULL
) STRICT;
`;
