/** The connection that a trigger of the source `queue` consumes. Null for triggers of other sources. */
export const queues = `
ALTER TABLE triggers ADD COLUMN queue_connection text;
CREATE INDEX triggers_of_queues ON triggers (trigger_id) WHERE queue_connection IS NOT NULL;
`;
