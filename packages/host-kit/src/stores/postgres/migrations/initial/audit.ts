/**
 * The audit log, its Merkle tree with the signed notes, and the postings by which entries are listed. Postings prove nothing, so no
 * trigger protects them.
 *
 * `audit_append` adds facts at the end of the chain with their hashes, as `nextEntry` of `@svc/auth/audit` makes them. Its
 * argument is the canonical JSON of a list of facts, from which it takes the texts as they are.
 *
 * The triggers reject changes. They reject deletions from the start of the log on, and the start only moves to a later checkpoint. Of
 * the tree, they reject the deletion of hashes from the block of 256 on that a proof of the first remaining entry begins with, at each
 * stored level. The newest note stays.
 */
export const audit = `
CREATE TABLE audit_entries (
  at_sequence bigint PRIMARY KEY,
  action text NOT NULL,
  actor text,
  target text,
  occurred_at text NOT NULL,
  details text NOT NULL,
  prev_hash text,
  hash text NOT NULL
);

CREATE TABLE audit_checkpoints (
  at_sequence bigint PRIMARY KEY,
  checkpoint text NOT NULL UNIQUE,
  merkle_root text NOT NULL,
  signature text NOT NULL
);

CREATE TABLE audit_start (id integer PRIMARY KEY CHECK (id = 1), at_sequence bigint NOT NULL);
INSERT INTO audit_start VALUES (1, 0);

CREATE TABLE audit_tree (
  level smallint NOT NULL,
  first bigint NOT NULL,
  hashes bytea NOT NULL,
  PRIMARY KEY (level, first)
);

CREATE TABLE audit_notes (tree_size bigint PRIMARY KEY, note text NOT NULL);

CREATE TABLE audit_postings (
  tenant text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL,
  by text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  first bigint NOT NULL,
  offsets text NOT NULL,
  PRIMARY KEY (tenant, mode, by, value, first)
);
CREATE INDEX audit_postings_by_first ON audit_postings (first);

CREATE FUNCTION audit_append(facts json) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  at bigint;
  last text;
  own text;
  fact json;
BEGIN
  -- A chain has one end, so appends wait for each other.
  PERFORM pg_advisory_xact_lock(hashtext(current_schema() || ' svc audit'));
  SELECT at_sequence, hash INTO at, last FROM audit_entries ORDER BY at_sequence DESC LIMIT 1;
  FOR fact IN SELECT value FROM json_array_elements(facts) LOOP
    at := coalesce(at, 0) + 1;
    own := encode(sha256(convert_to(
      '{"action":' || (fact -> 'action')::text || ',"actor":' || (fact -> 'actor')::text || ',"atSequence":' || at
      || ',"details":' || (fact -> 'details')::text || ',"occurredAt":' || (fact -> 'occurredAt')::text
      || ',"prevHash":' || coalesce('"' || last || '"', 'null') || ',"target":' || (fact -> 'target')::text || '}',
      'UTF8')), 'hex');
    INSERT INTO audit_entries (at_sequence, action, actor, target, occurred_at, details, prev_hash, hash)
    VALUES (at, fact ->> 'action', fact ->> 'actor', fact ->> 'target', fact ->> 'occurredAt', fact -> 'details', last, own);
    last := own;
  END LOOP;
END $$;

CREATE FUNCTION audit_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$;

CREATE FUNCTION audit_stays_from_start() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.at_sequence >= (SELECT at_sequence FROM audit_start) THEN
    RAISE EXCEPTION 'the audit log is append-only';
  END IF;
  RETURN OLD;
END $$;

CREATE FUNCTION audit_start_rises() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.at_sequence <= OLD.at_sequence
    OR NOT EXISTS (SELECT 1 FROM audit_checkpoints WHERE at_sequence = NEW.at_sequence) THEN
    RAISE EXCEPTION 'the audit log starts at a checkpoint, and only at later ones';
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION audit_tree_stays_from_start() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  start bigint := (SELECT at_sequence FROM audit_start);
BEGIN
  IF start = 0 OR OLD.first + length(OLD.hashes) / 32 > (((start - 1) >> (8 * (OLD.level + 1))) << 8) THEN
    RAISE EXCEPTION 'the audit log is append-only';
  END IF;
  RETURN OLD;
END $$;

CREATE FUNCTION audit_notes_stay_from_start() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.tree_size >= (SELECT at_sequence FROM audit_start)
    OR NOT EXISTS (SELECT 1 FROM audit_notes WHERE tree_size > OLD.tree_size) THEN
    RAISE EXCEPTION 'the audit log is append-only';
  END IF;
  RETURN OLD;
END $$;

CREATE TRIGGER audit_entries_stay BEFORE UPDATE OR TRUNCATE ON audit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION audit_stays();
CREATE TRIGGER audit_entries_last BEFORE DELETE ON audit_entries
  FOR EACH ROW EXECUTE FUNCTION audit_stays_from_start();
CREATE TRIGGER audit_checkpoints_stay BEFORE UPDATE OR TRUNCATE ON audit_checkpoints
  FOR EACH STATEMENT EXECUTE FUNCTION audit_stays();
CREATE TRIGGER audit_checkpoints_last BEFORE DELETE ON audit_checkpoints
  FOR EACH ROW EXECUTE FUNCTION audit_stays_from_start();
CREATE TRIGGER audit_start_rises BEFORE UPDATE ON audit_start FOR EACH ROW EXECUTE FUNCTION audit_start_rises();
CREATE TRIGGER audit_start_stays BEFORE INSERT OR DELETE OR TRUNCATE ON audit_start
  FOR EACH STATEMENT EXECUTE FUNCTION audit_stays();
CREATE TRIGGER audit_tree_stays BEFORE UPDATE OR TRUNCATE ON audit_tree
  FOR EACH STATEMENT EXECUTE FUNCTION audit_stays();
CREATE TRIGGER audit_tree_lasts BEFORE DELETE ON audit_tree
  FOR EACH ROW EXECUTE FUNCTION audit_tree_stays_from_start();
CREATE TRIGGER audit_notes_stay BEFORE UPDATE OR TRUNCATE ON audit_notes
  FOR EACH STATEMENT EXECUTE FUNCTION audit_stays();
CREATE TRIGGER audit_notes_last BEFORE DELETE ON audit_notes
  FOR EACH ROW EXECUTE FUNCTION audit_notes_stay_from_start();
`;
