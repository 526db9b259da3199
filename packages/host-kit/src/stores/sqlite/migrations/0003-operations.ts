/** For operators: the last attempts of each subscription, and an index for pages of dead letters. */
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

-- Which workspaces a subscription hears of is part of the lookup, so that an append does not look at those of others.
CREATE TABLE subscription_listens (
  tenant TEXT NOT NULL,
  mode TEXT NOT NULL,
  event_type TEXT NOT NULL,
  -- '*': all of the tenant.
  workspace TEXT NOT NULL,
  webhook_id TEXT NOT NULL REFERENCES subscriptions (webhook_id) ON DELETE CASCADE,
  PRIMARY KEY (tenant, mode, event_type, workspace, webhook_id)
) STRICT, WITHOUT ROWID;
-- What is judged again when it is found may be listed too widely.
INSERT INTO subscription_listens SELECT tenant, mode, event_type, '*', webhook_id FROM subscription_events;
CREATE INDEX subscription_listens_of ON subscription_listens (webhook_id);
DROP TABLE subscription_events;

DROP INDEX deliveries_dead;
CREATE INDEX deliveries_dead ON deliveries (webhook_id, dead_at, delivery_id) WHERE state = 'dead';

-- When the next delivery of any subscription is due.
CREATE INDEX deliveries_due ON deliveries (due_at) WHERE state = 'waiting';

CREATE INDEX subscriptions_of ON subscriptions (tenant, mode, webhook_id);
`;
