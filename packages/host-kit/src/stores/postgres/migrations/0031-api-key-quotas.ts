/** The counts of quotas, by the id of the key that counts. All times are in ms since the epoch. */
export const apiKeyQuotas = `
CREATE TABLE api_key_quotas (
  account text COLLATE "C" PRIMARY KEY,
  period text NOT NULL,
  starts_at bigint NOT NULL,
  taken bigint NOT NULL,
  used bigint NOT NULL
) WITH (fillfactor = 50);
`;
