/**
 * The attempts and ended deliveries of each subscription, counted by minute and by the host that counted them: hosts do not
 * wait for each other's settlements. The free space of each page takes the next version of its rows. Rows of a removed
 * subscription stay until their time has passed.
 */
export const deliveryMinutes = `
CREATE TABLE delivery_minutes (
  webhook_id text COLLATE "C" NOT NULL,
  -- Start of the minute, in ms since the epoch.
  minute bigint NOT NULL,
  writer text COLLATE "C" NOT NULL,
  delivered bigint NOT NULL,
  failed bigint NOT NULL,
  dead_lettered bigint NOT NULL,
  skipped bigint NOT NULL,
  duration_us bigint NOT NULL,
  latency_0 bigint NOT NULL,
  latency_1 bigint NOT NULL,
  latency_2 bigint NOT NULL,
  latency_3 bigint NOT NULL,
  latency_4 bigint NOT NULL,
  latency_5 bigint NOT NULL,
  latency_6 bigint NOT NULL,
  latency_7 bigint NOT NULL,
  PRIMARY KEY (webhook_id, minute, writer)
) WITH (fillfactor = 50);
CREATE INDEX delivery_minutes_old ON delivery_minutes (minute);
`;
