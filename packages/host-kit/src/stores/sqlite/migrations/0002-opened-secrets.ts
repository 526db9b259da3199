/** The values of secrets that runs have opened, encrypted, until their run ends. */
export const openedSecrets = `
CREATE TABLE opened_secrets (
  run_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  sealed BLOB NOT NULL,
  PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;
`;
