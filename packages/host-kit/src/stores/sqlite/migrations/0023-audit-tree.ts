/**
 * The Merkle tree of the audit log with its signed notes, and the postings by which entries are listed. Postings prove
 * nothing, so no trigger protects them.
 */
export const auditTree = `
CREATE TABLE audit_tree (
  level INTEGER NOT NULL,
  first INTEGER NOT NULL,
  hashes BLOB NOT NULL,
  PRIMARY KEY (level, first)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit_notes (tree_size INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT;

CREATE TRIGGER audit_tree_stays BEFORE UPDATE ON audit_tree
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_tree_lasts BEFORE DELETE ON audit_tree
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_notes_stay BEFORE UPDATE ON audit_notes
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_notes_last BEFORE DELETE ON audit_notes
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;

CREATE TABLE audit_postings (
  tenant TEXT NOT NULL,
  mode TEXT NOT NULL,
  by TEXT NOT NULL,
  value TEXT NOT NULL,
  first INTEGER NOT NULL,
  offsets TEXT NOT NULL,
  PRIMARY KEY (tenant, mode, by, value, first)
) STRICT, WITHOUT ROWID;
`;
