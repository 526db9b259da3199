/**
 * The removal of ended runs and of old audit entries. A removed run is listed until its records are deleted, in steps.
 * The trigger rejects deletions of audit entries from the start of the log on, and the start only moves to a later
 * checkpoint.
 */
export const retention = `
-- The source of a fork that may still read its log.
ALTER TABLE runs ADD COLUMN fork_source TEXT;
UPDATE runs SET fork_source = json_extract(document, '$.fork.sourceRunId') WHERE document LIKE '%"fork":%'
  AND status NOT IN ('completed', 'failed', 'cancelled');
CREATE INDEX runs_forking ON runs (fork_source)
  WHERE fork_source IS NOT NULL AND status NOT IN ('completed', 'failed', 'cancelled');
CREATE INDEX runs_ended ON runs (completed_at) WHERE status IN ('completed', 'failed', 'cancelled');

CREATE TABLE removed_runs (run_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE removed_positions (
  tenant TEXT NOT NULL,
  mode TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (tenant, mode)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit_start (id INTEGER PRIMARY KEY CHECK (id = 1), at_sequence INTEGER NOT NULL) STRICT;
INSERT INTO audit_start VALUES (1, 0);
CREATE TRIGGER audit_start_rises BEFORE UPDATE ON audit_start
WHEN new.at_sequence <= old.at_sequence
  OR NOT EXISTS (SELECT 1 FROM audit_checkpoints WHERE at_sequence = new.at_sequence)
BEGIN SELECT raise(ABORT, 'the audit log starts at a checkpoint, and only at later ones'); END;
CREATE TRIGGER audit_start_stays BEFORE DELETE ON audit_start
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;

DROP TRIGGER audit_entries_last;
CREATE TRIGGER audit_entries_last BEFORE DELETE ON audit_entries
WHEN old.at_sequence >= (SELECT at_sequence FROM audit_start)
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
DROP TRIGGER audit_checkpoints_last;
CREATE TRIGGER audit_checkpoints_last BEFORE DELETE ON audit_checkpoints
WHEN old.at_sequence >= (SELECT at_sequence FROM audit_start)
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
`;
