/** Roles, their assignments, and withdrawn credentials. `record` has every field; the other columns are for queries. */
export const access = `
CREATE TABLE access (
  kind TEXT NOT NULL,
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  lookup TEXT NOT NULL,
  principal TEXT,
  role TEXT,
  source TEXT NOT NULL,
  ends_at INTEGER,
  record TEXT NOT NULL,
  PRIMARY KEY (kind, tenant, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX access_by_lookup ON access (lookup);
CREATE INDEX access_configured ON access (source) WHERE source = 'configuration';
CREATE INDEX access_ending ON access (ends_at) WHERE ends_at IS NOT NULL;
`;
