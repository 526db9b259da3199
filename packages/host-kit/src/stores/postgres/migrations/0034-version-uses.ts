/**
 * The requests of each credential under each major of the protocol, by day. The major comes before the credential in the
 * key: the callers of one major are found without those of another.
 */
export const versionUses = `
CREATE TABLE version_uses (
  tenant text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL,
  major smallint NOT NULL,
  lane text COLLATE "C" NOT NULL,
  -- An id of the credential, which contains no part of it.
  credential text COLLATE "C" NOT NULL,
  -- Start of the day in UTC, in ms since the epoch.
  day bigint NOT NULL,
  requests bigint NOT NULL,
  last_at bigint NOT NULL,
  PRIMARY KEY (tenant, mode, major, lane, credential, day)
) WITH (fillfactor = 70);
CREATE INDEX version_uses_old ON version_uses (day);
`;
