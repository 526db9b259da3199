import type { VersionUses } from '../../ports/version-uses.ts';
import { callersOf, versionDayOf } from '../sql/version-uses.ts';
import type { Database } from './database.ts';

const ADD = {
  name: 'version-uses-add',
  text: `INSERT INTO version_uses AS stored (tenant, mode, major, lane, credential, day, requests, last_at)
    SELECT tenant, mode, major, lane, credential, day, requests, last_at
    FROM unnest($1::text[], $2::text[], $3::smallint[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[])
      WITH ORDINALITY AS added (tenant, mode, major, lane, credential, day, requests, last_at, n) ORDER BY n
    ON CONFLICT (tenant, mode, major, lane, credential, day)
    DO UPDATE SET requests = stored.requests + excluded.requests, last_at = greatest(stored.last_at, excluded.last_at)`,
};
/** The names of a page are found by the requests of one major, and then counted under each. */
export const CALLERS: { readonly name: string; readonly text: string } = {
  name: 'version-uses-callers',
  text: `WITH page AS MATERIALIZED (
      SELECT lane, credential FROM version_uses
      WHERE tenant = $1 AND mode = $2 AND major = $3 AND day >= $4 AND (lane, credential) > ($5, $6)
      GROUP BY lane, credential ORDER BY lane, credential LIMIT $7)
    SELECT lane, credential, counted.major, counted.requests, counted.last_at
    FROM page, LATERAL (
      SELECT major, sum(requests)::bigint AS requests, max(last_at) AS last_at FROM version_uses AS used
      WHERE used.tenant = $1 AND used.mode = $2 AND used.major = ANY ('{1,2}'::smallint[]) AND used.lane = page.lane
        AND used.credential = page.credential AND used.day >= $4
      GROUP BY major) AS counted
    ORDER BY lane, credential, counted.major`,
};
const DAYS = {
  name: 'version-uses-days',
  text: `SELECT day, major, sum(requests)::bigint AS requests FROM version_uses
    WHERE tenant = $1 AND mode = $2 AND day >= $3 GROUP BY day, major ORDER BY day, major`,
};
const SWEEP = {
  name: 'version-uses-sweep',
  text: `DELETE FROM version_uses WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM version_uses WHERE day < $1 ORDER BY day LIMIT $2 FOR UPDATE SKIP LOCKED))`,
};

export function versionUses(database: Database): VersionUses {
  return {
    async add(uses, transaction) {
      if (uses.length === 0) return;
      await database.within(transaction, ADD, [
        uses.map(({ tenant }) => tenant),
        uses.map(({ mode }) => mode),
        uses.map(({ major }) => major),
        uses.map(({ lane }) => lane),
        uses.map(({ credential }) => credential),
        uses.map(({ day }) => day),
        uses.map(({ requests }) => requests),
        uses.map(({ lastAt }) => lastAt),
      ]);
    },
    async callers({ tenant, mode }, { major, since, after, limit }) {
      // No credential has an empty lane, so every one comes after it.
      const { lane, credential } = after ?? { lane: '', credential: '' };
      const { rows } = await database.query(CALLERS, [tenant, mode, major, since, lane, credential, limit]);
      return callersOf(rows);
    },
    async days({ tenant, mode }, since) {
      return (await database.query(DAYS, [tenant, mode, since])).rows.map(versionDayOf);
    },
    async sweep(before, limit) {
      return (await database.query(SWEEP, [before, limit])).count;
    },
  };
}
