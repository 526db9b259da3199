/**
 * The positions of events in the order of their commits. Events of an older version have none: the stream of all runs
 * begins after them.
 */
export const eventPositions = `
ALTER TABLE events ADD COLUMN position INTEGER;
CREATE UNIQUE INDEX events_by_position ON events (position) WHERE position IS NOT NULL;
`;
