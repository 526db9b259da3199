/**
 * The requests of each credential under each major of the protocol, by day. The major comes before the credential in the
 * key: the callers of one major are found without those of another.
 */
export const versionUses = `
CREATE TABLE version_uses (
  tenant TEXT NOT NULL,
  mode TEXT NOT NULL,
  major INTEGER NOT NULL,
  lane TEXT NOT NULL,
  -- An id of the credential, which contains no part of it.
  credential TEXT NOT NULL,
  -- Start of the day in UTC, in ms since the epoch.
  day INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, mode, major, lane, credential, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX version_uses_old ON version_uses (day);
`;
