import type { DatabaseSync } from 'node:sqlite';
import type { AccessStore } from '../../ports/access.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { accessColumns, accessOf } from '../sql/access.ts';
import type { Writer } from './writer.ts';

const PUT = `INSERT INTO access (kind, tenant, id, lookup, principal, role, source, ends_at, record)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET lookup = excluded.lookup, principal = excluded.principal,
  role = excluded.role, source = excluded.source, ends_at = excluded.ends_at, record = excluded.record`;
const REMOVE = 'DELETE FROM access WHERE kind = ? AND tenant = ? AND id = ?';
const FIND = 'SELECT * FROM access WHERE kind = ? AND tenant = ? AND id = ?';
const LOOK_UP = 'SELECT * FROM access WHERE lookup IN (SELECT value FROM json_each(?))';
const LIST = `SELECT * FROM access WHERE kind = ?1 AND tenant = ?2 AND id > ?3 AND (?4 IS NULL OR principal = ?4)
  AND (?5 IS NULL OR role = ?5) ORDER BY id LIMIT ?6`;
const COUNT = 'SELECT count(*) AS count FROM access WHERE kind = ? AND tenant = ?';
const CONFIGURED = `SELECT * FROM access WHERE source = 'configuration'`;
const REMOVE_ENDED = `DELETE FROM access WHERE (kind, tenant, id) IN
  (SELECT kind, tenant, id FROM access WHERE ends_at IS NOT NULL AND ends_at <= ? LIMIT ?)`;

export function accessStore(reader: DatabaseSync, database: DatabaseSync, writer: Writer): AccessStore {
  const [put, remove, count] = [database.prepare(PUT), database.prepare(REMOVE), database.prepare(COUNT)];
  const [configured, removeEnded] = [reader.prepare(CONFIGURED), database.prepare(REMOVE_ENDED)];
  const outside = reading(reader);
  const inside = reading(database);
  /** Reads what the transaction has written, too. */
  const within = (transaction: Transaction | undefined) => {
    if (transaction === undefined) return outside;
    writer.require(transaction);
    return inside;
  };

  return {
    async hold(_tenant, transaction) {
      // There is one writer.
      writer.require(transaction);
    },
    async put(record, transaction) {
      writer.require(transaction);
      put.run(...accessColumns(record));
    },
    async remove({ kind, tenant, id }, transaction) {
      writer.require(transaction);
      remove.run(kind, tenant, id);
    },
    async find(kind, tenant, id, transaction) {
      const row = within(transaction).find.get(kind, tenant, id);
      return row && accessOf(row);
    },
    lookUp: async (lookups, transaction) => within(transaction).lookUp.all(JSON.stringify(lookups)).map(accessOf),
    list: async (kind, tenant, { after, limit, principal, role }, transaction) =>
      within(transaction)
        .list.all(kind, tenant, after, principal ?? null, role ?? null, limit)
        .map(accessOf),
    async count(kind, tenant, transaction) {
      writer.require(transaction);
      return Number(count.get(kind, tenant)?.count);
    },
    configured: async () => configured.all().map(accessOf),
    removeEnded: (now, limit) => writer.transaction(async () => Number(removeEnded.run(now, limit).changes)),
  };
}

function reading(database: DatabaseSync) {
  return { find: database.prepare(FIND), lookUp: database.prepare(LOOK_UP), list: database.prepare(LIST) };
}
