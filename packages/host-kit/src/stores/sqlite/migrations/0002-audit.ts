/** The audit log. Triggers reject changes and deletions of its rows. */
export const audit = `
CREATE TABLE audit_entries (
  at_sequence INTEGER PRIMARY KEY,
  action TEXT NOT NULL,
  actor TEXT,
  target TEXT,
  occurred_at TEXT NOT NULL,
  details TEXT NOT NULL,
  prev_hash TEXT,
  hash TEXT NOT NULL
) STRICT;

CREATE TABLE audit_checkpoints (
  at_sequence INTEGER PRIMARY KEY,
  checkpoint TEXT NOT NULL UNIQUE,
  merkle_root TEXT NOT NULL,
  signature TEXT NOT NULL
) STRICT;

CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON audit_entries
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_entries_last BEFORE DELETE ON audit_entries
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_checkpoints_stay BEFORE UPDATE ON audit_checkpoints
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_checkpoints_last BEFORE DELETE ON audit_checkpoints
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
`;
