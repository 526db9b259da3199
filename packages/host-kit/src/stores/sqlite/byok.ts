import type { DatabaseSync } from 'node:sqlite';
import type { ByokPlace, ByokStore } from '../../ports/byok.ts';
import { byokSecretOf, workspaceColumn } from '../sql/byok.ts';
import { integer } from '../sql/row.ts';
import type { Writer } from './writer.ts';

const PLACE = 'tenant = ? AND workspace = ? AND mode = ?';
const UPDATE = `UPDATE byok_secrets SET sealed = ?, updated_at = ? WHERE ${PLACE} AND name = ?`;
const INSERT = `INSERT INTO byok_secrets (tenant, workspace, mode, name, sealed, created_at, updated_at)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;
const COUNT = `SELECT count(*) AS count FROM byok_secrets WHERE ${PLACE}`;
const LIST = `SELECT * FROM byok_secrets WHERE ${PLACE} AND name > ? ORDER BY name LIMIT ?`;
const FIND = `SELECT * FROM byok_secrets WHERE ${PLACE} AND name = ?`;
const PAGE = `SELECT * FROM byok_secrets WHERE (tenant, workspace, mode, name) > (?, ?, ?, ?)
  ORDER BY tenant, workspace, mode, name LIMIT ?`;
const RESEAL = `UPDATE byok_secrets SET sealed = ? WHERE ${PLACE} AND name = ? AND sealed = ?`;
const DELETE = `DELETE FROM byok_secrets WHERE ${PLACE} AND name = ?`;

export function byokStore(reader: DatabaseSync, database: DatabaseSync, writer: Writer): ByokStore {
  const insert = database.prepare(INSERT);
  const update = database.prepare(UPDATE);
  const countNow = database.prepare(COUNT);
  const remove = database.prepare(DELETE);
  const reseal = database.prepare(RESEAL);
  const page = reader.prepare(PAGE);
  const list = reader.prepare(LIST);
  const find = reader.prepare(FIND);

  return {
    async put(secret, transaction) {
      writer.require(transaction);
      const { name, sealed, createdAt, updatedAt } = secret;
      const place = keyOf(secret);
      if (update.run(sealed, updatedAt, ...place, name).changes > 0) return false;
      insert.run(...place, name, sealed, createdAt, updatedAt);
      return true;
    },
    async count(place, transaction) {
      writer.require(transaction);
      return integer(countNow.get(...keyOf(place)) ?? {}, 'count');
    },
    list: async (place, { after, limit }) => list.all(...keyOf(place), after, limit).map(byokSecretOf),
    async find(place, name) {
      const row = find.get(...keyOf(place), name);
      return row === undefined ? undefined : byokSecretOf(row);
    },
    async remove(place, name, transaction) {
      writer.require(transaction);
      return remove.run(...keyOf(place), name).changes > 0;
    },
    async page({ after, limit }) {
      const from = after === undefined ? FIRST : [...keyOf(after), after.name];
      return page.all(...from, limit).map(byokSecretOf);
    },
    async reseal(secret, sealed, transaction) {
      writer.require(transaction);
      reseal.run(sealed, ...keyOf(secret), secret.name, secret.sealed);
    },
  };
}

/** Sorts before every key. */
const FIRST = ['', '', '', ''];

function keyOf(place: ByokPlace): [string, string, string] {
  return [place.tenant, workspaceColumn(place), place.mode];
}
