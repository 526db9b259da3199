import type pg from 'pg';

/** A table with its columns. */
export interface PostgresTable {
  readonly name: string;
  /** In their order. */
  readonly columns: readonly string[];
}

/**
 * Lists the tables of a schema, each after those that its foreign keys name. That of the schema version is left out.
 *
 * @internal
 */
export async function tablesOf(client: pg.ClientBase, schema: string): Promise<readonly PostgresTable[]> {
  const { rows } = await client.query<PostgresTable>(
    `SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
      WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r' AND c.relname <> 'schema_version'
        AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
      GROUP BY c.relname ORDER BY c.relname`,
    [schema],
  );
  const { rows: keys } = await client.query<{ from: string; to: string }>(
    `SELECT f.relname AS from, t.relname AS to FROM pg_constraint k
      JOIN pg_class f ON f.oid = k.conrelid JOIN pg_class t ON t.oid = k.confrelid
      WHERE k.contype = 'f' AND k.connamespace = $1::regnamespace AND f.oid <> t.oid`,
    [schema],
  );
  const ordered: PostgresTable[] = [];
  const place = (table: PostgresTable): void => {
    if (ordered.includes(table)) return;
    const needed = keys.filter(({ from }) => from === table.name).map(({ to }) => to);
    for (const other of rows) if (needed.includes(other.name)) place(other);
    ordered.push(table);
  };
  for (const table of rows) place(table);
  return ordered;
}

/**
 * Lists the names of the sequences of a schema.
 *
 * @internal
 */
export async function sequencesOf(client: pg.ClientBase, schema: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
      WHERE relnamespace = $1::regnamespace AND relkind = 'S' ORDER BY relname`,
    [schema],
  );
  return rows.map(({ name }) => name);
}

/**
 * Returns true when a schema exists and has a table or another relation.
 *
 * @internal
 */
export async function isFilled(client: pg.ClientBase, schema: string): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 LIMIT 1`,
    [schema],
  );
  return rows.length > 0;
}
