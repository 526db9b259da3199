/** The Merkle tree of the audit log with its signed notes, and the postings by which entries are listed. */
export const auditTree = `
CREATE TABLE audit_tree (
  level smallint NOT NULL,
  first bigint NOT NULL,
  hashes bytea NOT NULL,
  PRIMARY KEY (level, first)
);

CREATE TABLE audit_notes (tree_size bigint PRIMARY KEY, note text NOT NULL);

CREATE TRIGGER audit_tree_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_tree
  FOR EACH STATEMENT EXECUTE FUNCTION audit_stays();
CREATE TRIGGER audit_notes_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_notes
  FOR EACH STATEMENT EXECUTE FUNCTION audit_stays();

CREATE TABLE audit_postings (
  tenant text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL,
  by text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  first bigint NOT NULL,
  offsets text NOT NULL,
  PRIMARY KEY (tenant, mode, by, value, first)
);
`;
