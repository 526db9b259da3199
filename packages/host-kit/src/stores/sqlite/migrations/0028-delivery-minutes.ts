/**
 * The attempts and ended deliveries of each subscription, counted by minute. The minute comes first in the key: the rows
 * that settlements change lie together, however many subscriptions there are. Rows of a removed subscription stay until
 * their time has passed.
 */
export const deliveryMinutes = `
CREATE TABLE delivery_minutes (
  -- Start of the minute, in ms since the epoch.
  minute INTEGER NOT NULL,
  webhook_id TEXT NOT NULL,
  delivered INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  dead_lettered INTEGER NOT NULL,
  skipped INTEGER NOT NULL,
  duration_us INTEGER NOT NULL,
  latency_0 INTEGER NOT NULL,
  latency_1 INTEGER NOT NULL,
  latency_2 INTEGER NOT NULL,
  latency_3 INTEGER NOT NULL,
  latency_4 INTEGER NOT NULL,
  latency_5 INTEGER NOT NULL,
  latency_6 INTEGER NOT NULL,
  latency_7 INTEGER NOT NULL,
  PRIMARY KEY (minute, webhook_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_minutes_of ON delivery_minutes (webhook_id, minute);
`;
