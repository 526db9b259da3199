/**
 * The positions of events: their transaction, and their number. A transaction that begins later may commit earlier, so
 * readers stop before the oldest open transaction. Events of an older version have no position: the stream of all runs
 * begins after them.
 */
export const eventPositions = `
ALTER TABLE events ADD COLUMN commit_order bigint;
ALTER TABLE events ADD COLUMN commit_index bigint;
CREATE SEQUENCE event_indexes;
ALTER TABLE events ALTER COLUMN commit_order SET DEFAULT (pg_current_xact_id()::text::bigint);
ALTER TABLE events ALTER COLUMN commit_index SET DEFAULT nextval('event_indexes');
CREATE INDEX events_by_position ON events (commit_order, commit_index) WHERE commit_order IS NOT NULL;
-- Added to the ids of transactions. Rises when the tables are restored into a server whose ids are lower.
CREATE TABLE event_order (xid_offset bigint NOT NULL);
INSERT INTO event_order VALUES (0);
`;
