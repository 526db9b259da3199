/** Roles, their assignments, and withdrawn credentials. `record` has every field; the other columns are for queries. */
export const access = `
CREATE TABLE access (
  kind text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  lookup text COLLATE "C" NOT NULL,
  principal text COLLATE "C",
  role text COLLATE "C",
  source text COLLATE "C" NOT NULL,
  ends_at bigint,
  record text NOT NULL,
  PRIMARY KEY (kind, tenant, id)
);
CREATE INDEX access_by_lookup ON access (lookup);
CREATE INDEX access_configured ON access (source) WHERE source = 'configuration';
CREATE INDEX access_ending ON access (ends_at) WHERE ends_at IS NOT NULL;
`;
