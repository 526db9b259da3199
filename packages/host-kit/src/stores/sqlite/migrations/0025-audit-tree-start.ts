/**
 * The removal of the records that only removed audit entries need. The trigger rejects the deletion of hashes from the
 * block of 256 on that a proof of the first remaining entry begins with, at each stored level. The newest note stays.
 */
export const auditTreeStart = `
DROP TRIGGER audit_tree_lasts;
CREATE TRIGGER audit_tree_lasts BEFORE DELETE ON audit_tree
WHEN old.first + length(old.hashes) / 32 >
  (SELECT ((at_sequence - 1) >> (8 * (old.level + 1))) << 8 FROM audit_start WHERE at_sequence > 0)
  OR NOT EXISTS (SELECT 1 FROM audit_start WHERE at_sequence > 0)
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;

DROP TRIGGER audit_notes_last;
CREATE TRIGGER audit_notes_last BEFORE DELETE ON audit_notes
WHEN old.tree_size >= (SELECT at_sequence FROM audit_start)
  OR old.tree_size = (SELECT max(tree_size) FROM audit_notes)
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;

CREATE INDEX audit_postings_by_first ON audit_postings (first);
`;
