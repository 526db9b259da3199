import type { ByokPlace, ByokStore } from '../../ports/byok.ts';
import { byokSecretOf, workspaceColumn } from '../sql/byok.ts';
import { integer } from '../sql/row.ts';
import type { Database } from './database.ts';

const PLACE = 'tenant = $1 AND workspace = $2 AND mode = $3';
const PUT = {
  name: 'byok-put',
  text: `INSERT INTO byok_secrets (tenant, workspace, mode, name, sealed, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (tenant, workspace, mode, name) DO UPDATE SET sealed = $5, updated_at = $7
    RETURNING xmax = 0 AS is_new`,
};
// Additions to one place wait for each other: otherwise two could both count below the maximum and exceed it together.
const LOCK = {
  name: 'byok-lock',
  text: `SELECT pg_advisory_xact_lock(hashtext('svc byok ' || $1 || ' ' || $2 || ' ' || $3))`,
};
const COUNT = { name: 'byok-count', text: `SELECT count(*) AS count FROM byok_secrets WHERE ${PLACE}` };
const LIST = {
  name: 'byok-list',
  text: `SELECT * FROM byok_secrets WHERE ${PLACE} AND name > $4 ORDER BY name LIMIT $5`,
};
const FIND = { name: 'byok-find', text: `SELECT * FROM byok_secrets WHERE ${PLACE} AND name = $4` };
const PAGE = {
  name: 'byok-page',
  text: `SELECT * FROM byok_secrets WHERE (tenant, workspace, mode, name) > ($1, $2, $3, $4)
    ORDER BY tenant, workspace, mode, name LIMIT $5`,
};
const RESEAL = {
  name: 'byok-reseal',
  text: `UPDATE byok_secrets SET sealed = $5 WHERE ${PLACE} AND name = $4 AND sealed = $6`,
};
const DELETE = { name: 'byok-delete', text: `DELETE FROM byok_secrets WHERE ${PLACE} AND name = $4` };

export function byokStore(database: Database): ByokStore {
  return {
    async put(secret, transaction) {
      const { name, sealed, createdAt, updatedAt } = secret;
      const values = [...keyOf(secret), name, sealed, createdAt, updatedAt];
      const { rows } = await database.within(transaction, PUT, values);
      return rows[0]?.is_new === true;
    },
    async count(place, transaction) {
      await database.within(transaction, LOCK, keyOf(place));
      return integer((await database.within(transaction, COUNT, keyOf(place))).rows[0] ?? {}, 'count');
    },
    async list(place, { after, limit }) {
      return (await database.query(LIST, [...keyOf(place), after, limit])).rows.map(byokSecretOf);
    },
    async find(place, name) {
      const row = (await database.query(FIND, [...keyOf(place), name])).rows[0];
      return row === undefined ? undefined : byokSecretOf(row);
    },
    async remove(place, name, transaction) {
      return (await database.within(transaction, DELETE, [...keyOf(place), name])).count > 0;
    },
    async page({ after, limit }) {
      const from = after === undefined ? FIRST : [...keyOf(after), after.name];
      return (await database.query(PAGE, [...from, limit])).rows.map(byokSecretOf);
    },
    async reseal(secret, sealed, transaction) {
      const values = [...keyOf(secret), secret.name, Buffer.from(sealed), Buffer.from(secret.sealed)];
      await database.within(transaction, RESEAL, values);
    },
  };
}

/** Sorts before every key. */
const FIRST = ['', '', '', ''];

function keyOf(place: ByokPlace): readonly string[] {
  return [place.tenant, workspaceColumn(place), place.mode];
}
