/** The values of secrets that runs have opened, encrypted, until their run ends. */
export const openedSecrets = `
CREATE TABLE opened_secrets (
  run_id text NOT NULL,
  number integer NOT NULL,
  name text NOT NULL,
  sealed bytea NOT NULL,
  PRIMARY KEY (run_id, number)
);
`;
