import type pg from 'pg';
import type { ChangedRow, ChangeSource, ReadChangesOptions } from '../../ports/changes.ts';
import { requiredDriver } from '../../postgres-driver.ts';
import { quoted, requireColumns, requireSettleMs } from '../identifier.ts';
import { SettledPlace } from '../settled-place.ts';

export type { ChangedRow, ChangeSource, ReadChangesOptions } from '../../ports/changes.ts';

/** Options of `postgresChanges`. */
export interface PostgresChangesOptions {
  /** `postgres://user:password@host:port/database` of the primary. A user that may only `SELECT` is enough. */
  readonly url: string;
  /** The table or view. */
  readonly table: string;
  /** The schema of the table. Default `public`. */
  readonly schema?: string;
  /** The column whose value rises with each row that is to be read: a sequence, a time or a version. Never NULL. */
  readonly cursor: string;
  /** A column that tells rows with one cursor apart, such as the primary key. Default: none, and the cursor is unique. */
  readonly key?: string;
  /** The columns that a message has. */
  readonly columns: readonly string[];
  /**
   * The longest time between the moment at which a transaction takes a cursor and that of its first write, in ms. Default 1000. With
   * `now()` as the cursor it is the longest time between the begin of a transaction and its first write.
   */
  readonly settleMs?: number;
  /** The most connections. Default 2. */
  readonly connections?: number;
  /** Called with errors that belong to no call. It must not throw. Default: they are ignored. */
  readonly onError?: (cause: unknown) => void;
}

/**
 * Reads the rows of a table of PostgreSQL 13 or later by a cursor column. A row is read when no transaction that is open can commit a
 * lower cursor any more, so a transaction that stays open for long holds up the reading.
 *
 * `bigint` and `numeric` are texts in a message: JSON numbers would lose digits.
 *
 * @throws {TypeError} for names that are none, and numbers out of range
 * @throws {Error} when the package `pg` is not installed
 *
 * @example
 * const source = postgresChanges({ url: 'postgres://reader@db.example.com/shop', table: 'orders', cursor: 'seq', columns: ['id', 'total'] });
 * createHost({ ...options, triggers: { changes: { orders: { source, grants: [{ tenant: 'acme' }] } } } });
 */
export function postgresChanges(options: PostgresChangesOptions): ChangeSource {
  const { url, table, schema = 'public', cursor, key, columns, settleMs = 1000, connections = 2, onError } = options;
  requireColumns({ cursor, key, columns });
  requireSettleMs(settleMs);
  if (!(Number.isSafeInteger(connections) && connections >= 1))
    throw new TypeError('connections: must be a whole number, at least 1. Leave it out for 2.');
  const place = [cursor, ...(key === undefined ? [] : [key])];
  const driver = requiredDriver('postgresChanges');
  const statements = statementsOn(driver, { schema, table, place, columns });
  const pool = poolOf(driver, { url, connections, onError });
  const horizon = new SettledPlace<string>(settleMs, (one, other) => one === other);
  let texts: Promise<ReadonlySet<string>> | undefined;

  return {
    async settled({ clock }) {
      await checked();
      const { rows } = await pool.query<TopRow>(statements.top);
      const [{ place: top, xmin, xmax } = { place: null, xmin: '0', xmax: '0' }] = rows;
      const seen = { now: clock.monotonic(), oldestOpen: BigInt(xmin), next: BigInt(xmax) };
      return horizon.observe({ top: top === null ? '[]' : JSON.stringify(JSON.parse(top)), ...seen });
    },
    async read(reading) {
      const last = valuesOf(reading.upTo, place.length);
      if (last.length === 0) return [];
      const found = await pool.query<FoundRow>(statements.read(reading, await checked(), last.length));
      return found.rows.map(changedRow);
    },
    close: () => pool.end(),
  };

  /** The columns that are texts in a message. A failure is not kept: the table may be made later. */
  function checked(): Promise<ReadonlySet<string>> {
    texts ??= checkedTable(pool, { schema, table, place, columns }).catch((error: unknown) => {
      texts = undefined;
      throw error;
    });
    return texts;
  }
}

interface TopRow {
  readonly place: string | null;
  readonly xmin: string;
  readonly xmax: string;
}

interface FoundRow {
  readonly place: string;
  readonly content: string | null;
}

function statementsOn({ escapeLiteral }: typeof pg, { schema, table, place, columns }: CheckedTable) {
  const from = `${quoted('schema', schema)}.${quoted('table', table)}`;
  const names = place.map((name) => quoted('cursor', name));
  const listed = columns.map((name) => [name, quoted('columns', name)] as const);
  const placeText = `json_build_array(${names.map((name) => `${name}::text`).join(', ')})::text`;
  const row = `(${names.join(', ')})`;
  const parameters = (first: number) => `(${names.map((_, index) => `$${first + index}`).join(', ')})`;
  return {
    // The place is read before the snapshot ends, so that every transaction below `xmin` is seen in it.
    top: `SELECT (SELECT ${placeText} FROM ${from} WHERE ${names.map((name) => `${name} IS NOT NULL`).join(' AND ')}
        ORDER BY ${names.map((name) => `${name} DESC`).join(', ')} LIMIT 1) AS place,
      pg_snapshot_xmin(pg_current_snapshot())::text AS xmin, pg_snapshot_xmax(pg_current_snapshot())::text AS xmax`,
    read({ after, upTo, limit, maxBytes }: ReadChangesOptions, texts: ReadonlySet<string>, width: number) {
      const upper = valuesOf(upTo, place.length);
      const lower = after === undefined ? [] : valuesOf(after, place.length);
      const content = listed.map(
        ([name, column]) => `${escapeLiteral(name)}, ${column}${texts.has(name) ? '::text' : ''}`,
      );
      const behind = lower.length === 0 ? '' : `AND ${row} > ${parameters(width + 3)}`;
      const text = `SELECT place, CASE WHEN octet_length(content) <= $2 THEN content END AS content FROM (
          SELECT ${placeText} AS place, json_build_object(${content.join(', ')})::text AS content FROM ${from}
          WHERE ${row} <= ${parameters(3)} ${behind} ORDER BY ${names.join(', ')} LIMIT $1) AS found`;
      return { text, values: [limit, maxBytes, ...upper, ...lower] };
    },
  };
}

function changedRow({ place, content }: FoundRow): ChangedRow {
  return { cursor: JSON.stringify(JSON.parse(place)), row: content === null ? undefined : JSON.parse(content) };
}

/** The values of a place. None: that of an empty table. @throws {Error} for a cursor of a table with other columns */
function valuesOf(cursor: string, width: number): readonly string[] {
  const values: unknown = JSON.parse(cursor);
  if (!Array.isArray(values) || (values.length !== width && values.length !== 0))
    throw new Error(
      'The stored cursor does not fit the columns cursor and key. Delete the trigger, and register it again.',
    );
  return values.map(String);
}

interface CheckedTable {
  readonly schema: string;
  readonly table: string;
  readonly place: readonly string[];
  readonly columns: readonly string[];
}

/** Returns the columns that are texts. @throws {Error} for a column that does not exist, and a place that is not unique */
async function checkedTable(
  pool: pg.Pool,
  { schema, table, place, columns }: CheckedTable,
): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ name: string; type: string }>(COLUMNS, [schema, table]);
  const types = new Map(rows.map(({ name, type }) => [name, type]));
  for (const name of [...place, ...columns]) {
    if (!types.has(name))
      throw new Error(`The table ${schema}.${table} has no column ${name}. Correct its name, or grant SELECT on it.`);
  }
  const unique = await pool.query<{ columns: readonly string[] }>(UNIQUE, [schema, table]);
  if (!unique.rows.some((index) => index.columns.every((name) => place.includes(name))))
    throw new Error(
      `The table ${schema}.${table} has no unique index on ${place.join(', ')}. Add one, or name the primary key as key.`,
    );
  return new Set(columns.filter((name) => types.get(name) === 'int8' || types.get(name) === 'numeric'));
}

const COLUMNS = `SELECT a.attname::text AS name, t.typname::text AS type
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid JOIN pg_class c ON c.oid = a.attrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped`;
const UNIQUE = `SELECT array(SELECT a.attname::text FROM pg_attribute a
      WHERE a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)) AS columns
  FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relname = $2 AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL`;

interface PoolOptions {
  readonly url: string;
  readonly connections: number;
  readonly onError: PostgresChangesOptions['onError'];
}

function poolOf({ Pool }: typeof pg, { url, connections, onError = () => {} }: PoolOptions): pg.Pool {
  const pool = new Pool({
    connectionString: url,
    max: connections,
    // Every wait has a limit: for a connection and for a statement.
    connectionTimeoutMillis: 10_000,
    statement_timeout: STATEMENT_MS,
    query_timeout: STATEMENT_MS * 1.5,
    keepAlive: true,
    application_name: 'svc-changes',
    // Values go to the database as it spelled them.
    options: '-c datestyle=ISO -c timezone=UTC -c extra_float_digits=1',
  });
  // Without a listener, a connection that breaks would end the process.
  pool.on('connect', (client) => client.on('error', onError));
  pool.on('error', () => {});
  return pool;
}

const STATEMENT_MS = 15_000;
