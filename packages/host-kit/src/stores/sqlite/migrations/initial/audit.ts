/**
 * The audit log, its Merkle tree with the signed notes, and the postings by which entries are listed. Postings prove nothing, so no
 * trigger protects them.
 *
 * The triggers reject changes. They reject deletions from the start of the log on, and the start only moves to a later checkpoint. Of
 * the tree, they reject the deletion of hashes from the block of 256 on that a proof of the first remaining entry begins with, at each
 * stored level. The newest note stays.
 */
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
CREATE TRIGGER audit_entries_last BEFORE DELETE ON audit_entries
WHEN old.at_sequence >= (SELECT at_sequence FROM audit_start)
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON audit_entries
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;

CREATE TABLE audit_checkpoints (
  at_sequence INTEGER PRIMARY KEY,
  checkpoint TEXT NOT NULL UNIQUE,
  merkle_root TEXT NOT NULL,
  signature TEXT NOT NULL
) STRICT;
CREATE TRIGGER audit_checkpoints_last BEFORE DELETE ON audit_checkpoints
WHEN old.at_sequence >= (SELECT at_sequence FROM audit_start)
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_checkpoints_stay BEFORE UPDATE ON audit_checkpoints
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;

CREATE TABLE audit_start (id INTEGER PRIMARY KEY CHECK (id = 1), at_sequence INTEGER NOT NULL) STRICT;
INSERT INTO audit_start VALUES (1, 0);
CREATE TRIGGER audit_start_rises BEFORE UPDATE ON audit_start
WHEN new.at_sequence <= old.at_sequence
  OR NOT EXISTS (SELECT 1 FROM audit_checkpoints WHERE at_sequence = new.at_sequence)
BEGIN SELECT raise(ABORT, 'the audit log starts at a checkpoint, and only at later ones'); END;
CREATE TRIGGER audit_start_stays BEFORE DELETE ON audit_start
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;

CREATE TABLE audit_tree (
  level INTEGER NOT NULL,
  first INTEGER NOT NULL,
  hashes BLOB NOT NULL,
  PRIMARY KEY (level, first)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER audit_tree_lasts BEFORE DELETE ON audit_tree
WHEN old.first + length(old.hashes) / 32 >
  (SELECT ((at_sequence - 1) >> (8 * (old.level + 1))) << 8 FROM audit_start WHERE at_sequence > 0)
  OR NOT EXISTS (SELECT 1 FROM audit_start WHERE at_sequence > 0)
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_tree_stays BEFORE UPDATE ON audit_tree
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;

CREATE TABLE audit_notes (tree_size INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT;
CREATE TRIGGER audit_notes_last BEFORE DELETE ON audit_notes
WHEN old.tree_size >= (SELECT at_sequence FROM audit_start)
  OR old.tree_size = (SELECT max(tree_size) FROM audit_notes)
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_notes_stay BEFORE UPDATE ON audit_notes
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
CREATE INDEX audit_postings_by_first ON audit_postings (first);
`;
