/** The counts of quotas, by the id of the key that counts. All times are in ms since the epoch. */
export const apiKeyQuotas = `
CREATE TABLE api_key_quotas (
  account TEXT PRIMARY KEY,
  period TEXT NOT NULL,
  starts_at INTEGER NOT NULL,
  taken INTEGER NOT NULL,
  used INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;
