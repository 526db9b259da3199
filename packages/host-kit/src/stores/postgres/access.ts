import type { AccessStore } from '../../ports/access.ts';
import { ACCESS_CHANGE, lookupOf } from '../../ports/access-lookup.ts';
import type { ApiKeyFeed } from '../../ports/api-keys.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { accessColumns, accessOf } from '../sql/access.ts';
import { integer, type Row } from '../sql/row.ts';
import { announce } from './api-key-feed.ts';
import type { Database } from './database.ts';

/** One of 65 536 locks for each tenant of a schema: tenants may share one, and wait for each other then. */
const HOLD = {
  name: 'access-hold',
  text: `SELECT pg_advisory_xact_lock(hashtext('svc access ' || current_schema()), hashtext($1) & 65535)`,
};
const PUT = {
  name: 'access-put',
  text: `INSERT INTO access (kind, tenant, id, lookup, principal, role, source, ends_at, record)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (kind, tenant, id) DO UPDATE SET lookup = excluded.lookup,
    principal = excluded.principal, role = excluded.role, source = excluded.source, ends_at = excluded.ends_at,
    record = excluded.record`,
};
const REMOVE = { name: 'access-remove', text: 'DELETE FROM access WHERE kind = $1 AND tenant = $2 AND id = $3' };
const FIND = { name: 'access-find', text: 'SELECT * FROM access WHERE kind = $1 AND tenant = $2 AND id = $3' };
const LOOK_UP = { name: 'access-look-up', text: 'SELECT * FROM access WHERE lookup = ANY($1)' };
const LIST = {
  name: 'access-list',
  text: `SELECT * FROM access WHERE kind = $1 AND tenant = $2 AND id > $3 AND ($4::text IS NULL OR principal = $4)
    AND ($5::text IS NULL OR role = $5) ORDER BY id LIMIT $6`,
};
const COUNT = { name: 'access-count', text: 'SELECT count(*) AS count FROM access WHERE kind = $1 AND tenant = $2' };
const CONFIGURED = { name: 'access-configured', text: `SELECT * FROM access WHERE source = 'configuration'` };
const REMOVE_ENDED = {
  name: 'access-remove-ended',
  text: `DELETE FROM access WHERE (kind, tenant, id) IN
    (SELECT kind, tenant, id FROM access WHERE ends_at IS NOT NULL AND ends_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`,
};

export function accessStore(database: Database, schema: string, feed: ApiKeyFeed): AccessStore {
  const announceAccess = (subject: string, transaction: Transaction): void =>
    announce(database, { schema, lookup: ACCESS_CHANGE, subject }, transaction);
  const rows = async (
    transaction: Transaction | undefined,
    statement: typeof FIND,
    values: readonly unknown[],
  ): Promise<readonly Row[]> => {
    const asked =
      transaction === undefined ? database.query(statement, values) : database.within(transaction, statement, values);
    return (await asked).rows;
  };

  return {
    feed,
    async hold(tenant, transaction) {
      await database.within(transaction, HOLD, [tenant]);
    },
    async put(record, transaction) {
      await database.within(transaction, PUT, accessColumns(record));
      announceAccess(lookupOf(record), transaction);
    },
    async remove(record, transaction) {
      await database.within(transaction, REMOVE, [record.kind, record.tenant, record.id]);
      announceAccess(lookupOf(record), transaction);
    },
    async find(kind, tenant, id, transaction) {
      const [row] = await rows(transaction, FIND, [kind, tenant, id]);
      return row && accessOf(row);
    },
    lookUp: async (lookups, transaction) => (await rows(transaction, LOOK_UP, [[...lookups]])).map(accessOf),
    async list(kind, tenant, { after, limit, principal, role }, transaction) {
      const values = [kind, tenant, after, principal ?? null, role ?? null, limit];
      return (await rows(transaction, LIST, values)).map(accessOf);
    },
    async count(kind, tenant, transaction) {
      const [row = {}] = await rows(transaction, COUNT, [kind, tenant]);
      return integer(row, 'count');
    },
    configured: async () => (await rows(undefined, CONFIGURED, [])).map(accessOf),
    async removeEnded(now, limit) {
      return (await database.query(REMOVE_ENDED, [Math.trunc(now), limit])).count;
    },
  };
}
