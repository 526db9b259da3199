/**
 * Claims and turns move to the memory of the only process, so the outbox has two states and one index for each. The
 * store deletes the deliveries and attempts of a removed subscription, in steps. The attempts of a subscription become
 * a ring whose rows are overwritten.
 */
export const turns = `
CREATE TABLE outbox (
  -- Ascending in the order of the appends, so it breaks ties of due_at.
  position INTEGER PRIMARY KEY,
  delivery_id TEXT NOT NULL,
  webhook_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  event_type TEXT NOT NULL,
  body BLOB NOT NULL,
  attempts INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'dead')),
  -- Waiting: when it may be attempted. Dead: when it may be deleted.
  due_at INTEGER NOT NULL,
  dead_at INTEGER,
  last_status INTEGER
) STRICT;
INSERT INTO outbox SELECT position, delivery_id, webhook_id, run_id, event_id, sequence, event_type, body, attempts,
  iif(state = 'dead', 'dead', 'waiting'), iif(state = 'claimed', 0, due_at), dead_at, last_status FROM deliveries;
DROP TABLE deliveries;
ALTER TABLE outbox RENAME TO deliveries;
CREATE INDEX deliveries_waiting ON deliveries (webhook_id, due_at, position) WHERE state = 'waiting';
CREATE INDEX deliveries_expiring ON deliveries (due_at) WHERE state = 'dead';
CREATE INDEX deliveries_dead ON deliveries (webhook_id, dead_at, delivery_id) WHERE state = 'dead';
-- An operator names the dead letters to redrive.
CREATE INDEX deliveries_dead_ids ON deliveries (delivery_id) WHERE state = 'dead';

CREATE TABLE attempt_ring (
  webhook_id TEXT NOT NULL,
  -- Its place in the ring: position modulo what is kept.
  slot INTEGER NOT NULL,
  -- Ascending in the order of the attempts of one subscription.
  position INTEGER NOT NULL,
  delivery_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  event_type TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  at INTEGER NOT NULL,
  duration_us INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  status INTEGER,
  reason TEXT,
  PRIMARY KEY (webhook_id, slot)
) STRICT, WITHOUT ROWID;
INSERT OR REPLACE INTO attempt_ring
  SELECT webhook_id, nth % 100, nth, delivery_id, run_id, sequence, event_type, attempt, at, duration_us, outcome, status, reason
  FROM (SELECT *, row_number() OVER (PARTITION BY webhook_id ORDER BY position) AS nth FROM attempts) ORDER BY webhook_id, nth;
DROP TABLE attempts;
ALTER TABLE attempt_ring RENAME TO attempts;
`;
