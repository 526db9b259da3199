/** What an operator looks at and acts on: the last attempts, and dead letters by pages. */
export const operations = `
CREATE TABLE attempts (
  position INTEGER PRIMARY KEY,
  webhook_id TEXT NOT NULL REFERENCES subscriptions (webhook_id) ON DELETE CASCADE,
  delivery_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  event_type TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  at INTEGER NOT NULL,
  duration_us INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  status INTEGER,
  reason TEXT
) STRICT;

CREATE INDEX attempts_of ON attempts (webhook_id, position);

DROP INDEX deliveries_dead;
CREATE INDEX deliveries_dead ON deliveries (webhook_id, dead_at, delivery_id) WHERE state = 'dead';

CREATE INDEX subscriptions_of ON subscriptions (tenant, mode, webhook_id);
`;
