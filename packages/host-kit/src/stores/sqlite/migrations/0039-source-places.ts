/**
 * The places of sources that hosts read by themselves, and the source of a trigger that is one of them. Null for triggers of other
 * sources.
 */
export const sourcePlaces = `
ALTER TABLE triggers ADD COLUMN read_source TEXT;
CREATE INDEX triggers_of_readings ON triggers (read_source, trigger_id) WHERE read_source IS NOT NULL;
CREATE TABLE trigger_places (
  trigger_id TEXT PRIMARY KEY,
  reader TEXT NOT NULL,
  lease_until INTEGER NOT NULL,
  cursor TEXT,
  reading TEXT NOT NULL
) STRICT;
`;
