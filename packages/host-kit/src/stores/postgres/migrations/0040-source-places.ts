/**
 * The places of sources that hosts read by themselves, and the source of a trigger that is one of them. Null for triggers of other
 * sources.
 */
export const sourcePlaces = `
ALTER TABLE triggers ADD COLUMN read_source text;
CREATE INDEX triggers_of_readings ON triggers (read_source, trigger_id) WHERE read_source IS NOT NULL;
CREATE TABLE trigger_places (
  trigger_id text PRIMARY KEY,
  reader text NOT NULL,
  lease_until bigint NOT NULL,
  cursor text,
  reading text NOT NULL
);
`;
