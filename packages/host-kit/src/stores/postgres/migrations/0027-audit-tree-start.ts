/**
 * The removal of the records that only removed audit entries need. The trigger rejects the deletion of hashes from the
 * block of 256 on that a proof of the first remaining entry begins with, at each stored level. The newest note stays.
 */
export const auditTreeStart = `
CREATE FUNCTION audit_tree_stays_from_start() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  start bigint := (SELECT at_sequence FROM audit_start);
BEGIN
  IF start = 0 OR OLD.first + length(OLD.hashes) / 32 > (((start - 1) >> (8 * (OLD.level + 1))) << 8) THEN
    RAISE EXCEPTION 'the audit log is append-only';
  END IF;
  RETURN OLD;
END $$;
DROP TRIGGER audit_tree_stays ON audit_tree;
CREATE TRIGGER audit_tree_stays BEFORE UPDATE OR TRUNCATE ON audit_tree
  FOR EACH STATEMENT EXECUTE FUNCTION audit_stays();
CREATE TRIGGER audit_tree_lasts BEFORE DELETE ON audit_tree
  FOR EACH ROW EXECUTE FUNCTION audit_tree_stays_from_start();

CREATE FUNCTION audit_notes_stay_from_start() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.tree_size >= (SELECT at_sequence FROM audit_start)
    OR NOT EXISTS (SELECT 1 FROM audit_notes WHERE tree_size > OLD.tree_size) THEN
    RAISE EXCEPTION 'the audit log is append-only';
  END IF;
  RETURN OLD;
END $$;
DROP TRIGGER audit_notes_stay ON audit_notes;
CREATE TRIGGER audit_notes_stay BEFORE UPDATE OR TRUNCATE ON audit_notes
  FOR EACH STATEMENT EXECUTE FUNCTION audit_stays();
CREATE TRIGGER audit_notes_last BEFORE DELETE ON audit_notes
  FOR EACH ROW EXECUTE FUNCTION audit_notes_stay_from_start();

CREATE INDEX audit_postings_by_first ON audit_postings (first);
`;
