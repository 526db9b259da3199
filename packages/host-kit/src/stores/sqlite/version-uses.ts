import type { DatabaseSync } from 'node:sqlite';
import type { VersionUses } from '../../ports/version-uses.ts';
import { callersOf, versionDayOf } from '../sql/version-uses.ts';
import type { Writer } from './writer.ts';

const ADD = `INSERT INTO version_uses (tenant, mode, major, lane, credential, day, requests, last_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, last_at = max(last_at, excluded.last_at)`;
const CALLERS = `WITH page AS MATERIALIZED (
    SELECT lane, credential FROM version_uses
    WHERE tenant = ?1 AND mode = ?2 AND major = ?3 AND day >= ?4 AND (lane, credential) > (?5, ?6)
    GROUP BY lane, credential ORDER BY lane, credential LIMIT ?7)
  SELECT page.lane, page.credential, used.major, sum(used.requests) AS requests, max(used.last_at) AS last_at
  FROM page JOIN version_uses AS used ON used.tenant = ?1 AND used.mode = ?2 AND used.major IN (1, 2)
    AND used.lane = page.lane AND used.credential = page.credential AND used.day >= ?4
  GROUP BY page.lane, page.credential, used.major ORDER BY page.lane, page.credential, used.major`;
const DAYS = `SELECT day, major, sum(requests) AS requests FROM version_uses
  WHERE tenant = ? AND mode = ? AND day >= ? GROUP BY day, major ORDER BY day, major`;
const SWEEP = `DELETE FROM version_uses WHERE (tenant, mode, major, lane, credential, day) IN
  (SELECT tenant, mode, major, lane, credential, day FROM version_uses WHERE day < ? ORDER BY day LIMIT ?)`;

export function versionUses(reader: DatabaseSync, database: DatabaseSync, writer: Writer): VersionUses {
  const add = database.prepare(ADD);
  const sweep = database.prepare(SWEEP);
  const callers = reader.prepare(CALLERS);
  const days = reader.prepare(DAYS);

  return {
    async add(uses, transaction) {
      writer.require(transaction);
      for (const { tenant, mode, major, lane, credential, day, requests, lastAt } of uses) {
        add.run(tenant, mode, major, lane, credential, day, requests, lastAt);
      }
    },
    async callers({ tenant, mode }, { major, since, after, limit }) {
      // No credential has an empty lane, so every one comes after it.
      const { lane, credential } = after ?? { lane: '', credential: '' };
      return callersOf(callers.all(tenant, mode, major, since, lane, credential, limit));
    },
    async days({ tenant, mode }, since) {
      return days.all(tenant, mode, since).map(versionDayOf);
    },
    sweep: (before, limit) => writer.transaction(async () => Number(sweep.run(before, limit).changes)),
  };
}
