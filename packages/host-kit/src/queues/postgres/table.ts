/**
 * Returns the statements that create the table of queues, if there is none. Senders insert `queue` and `body`, in a transaction of
 * their own: the message exists when that transaction commits.
 *
 * @param table the name, with or without a schema. Default `svc_queue`
 * @throws {TypeError} for a name that is not one: lower-case letters, digits and underscores, up to 50 characters
 *
 * @example
 * await client.query(postgresQueueTable());
 * await client.query(`INSERT INTO svc_queue (queue, body) VALUES ('orders', '{"id":"order-1"}')`);
 */
export function postgresQueueTable(table = 'svc_queue'): string {
  const name = tableName(table);
  const index = `${table.split('.').at(-1)}_due`;
  return `CREATE TABLE IF NOT EXISTS ${name} (
  queue text NOT NULL,
  message_id text NOT NULL DEFAULT gen_random_uuid()::text,
  body text NOT NULL,
  available_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (queue, message_id)
);
CREATE INDEX IF NOT EXISTS "${index}" ON ${name} (queue, available_at);`;
}

/** Returns the name of a table as SQL has it. @throws {TypeError} for a name that is not one */
export function tableName(table: string): string {
  if (/^(?:[a-z_][a-z0-9_]{0,49}\.)?[a-z_][a-z0-9_]{0,49}$/.test(table)) return `"${table.replace('.', '"."')}"`;
  throw new TypeError(
    'table: must be a name of lower-case letters, digits and underscores, with or without a schema. Leave it out for svc_queue.',
  );
}
