/**
 * The removal of ended runs and of old audit entries. A removed run is listed until its records are deleted, in steps.
 * The triggers reject deletions of audit entries from the start of the log on, and the start only moves to a later
 * checkpoint.
 */
export const retention = `
-- The source of a fork that may still read its log.
ALTER TABLE runs ADD COLUMN fork_source text COLLATE "C";
-- Not by a function for JSON, which does not take every text. In a string of the document the quotes would be escaped.
UPDATE runs SET fork_source = substring(document from
    '"fork":\\{"sourceRunId":"([^"\\\\]+)","fromSeq":[0-9]+,"mode":"[a-z]+"\\},"engineVersion"')
  WHERE document LIKE '%"fork":%' AND status NOT IN ('completed', 'failed', 'cancelled');
CREATE INDEX runs_forking ON runs (fork_source)
  WHERE fork_source IS NOT NULL AND status NOT IN ('completed', 'failed', 'cancelled');
CREATE INDEX runs_ended ON runs (completed_at) WHERE status IN ('completed', 'failed', 'cancelled');

CREATE TABLE removed_runs (run_id text COLLATE "C" PRIMARY KEY);
CREATE TABLE removed_positions (
  tenant text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL,
  commit_order bigint NOT NULL,
  commit_index bigint NOT NULL,
  PRIMARY KEY (tenant, mode)
);

CREATE TABLE audit_start (id integer PRIMARY KEY CHECK (id = 1), at_sequence bigint NOT NULL);
INSERT INTO audit_start VALUES (1, 0);
CREATE FUNCTION audit_start_rises() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.at_sequence <= OLD.at_sequence
    OR NOT EXISTS (SELECT 1 FROM audit_checkpoints WHERE at_sequence = NEW.at_sequence) THEN
    RAISE EXCEPTION 'the audit log starts at a checkpoint, and only at later ones';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER audit_start_rises BEFORE UPDATE ON audit_start FOR EACH ROW EXECUTE FUNCTION audit_start_rises();
CREATE TRIGGER audit_start_stays BEFORE INSERT OR DELETE OR TRUNCATE ON audit_start
  FOR EACH STATEMENT EXECUTE FUNCTION audit_stays();

CREATE FUNCTION audit_stays_from_start() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.at_sequence >= (SELECT at_sequence FROM audit_start) THEN
    RAISE EXCEPTION 'the audit log is append-only';
  END IF;
  RETURN OLD;
END $$;
DROP TRIGGER audit_entries_stay ON audit_entries;
CREATE TRIGGER audit_entries_stay BEFORE UPDATE OR TRUNCATE ON audit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION audit_stays();
CREATE TRIGGER audit_entries_last BEFORE DELETE ON audit_entries
  FOR EACH ROW EXECUTE FUNCTION audit_stays_from_start();
DROP TRIGGER audit_checkpoints_stay ON audit_checkpoints;
CREATE TRIGGER audit_checkpoints_stay BEFORE UPDATE OR TRUNCATE ON audit_checkpoints
  FOR EACH STATEMENT EXECUTE FUNCTION audit_stays();
CREATE TRIGGER audit_checkpoints_last BEFORE DELETE ON audit_checkpoints
  FOR EACH ROW EXECUTE FUNCTION audit_stays_from_start();
`;
