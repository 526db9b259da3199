import type { DatabaseSync } from 'node:sqlite';
import type { EffectStore } from '../../ports/effects.ts';
import { effectColumns, effectOf, usedEffectOf } from '../sql/effects.ts';
import type { Writer } from './writer.ts';

const READ = 'SELECT * FROM effects WHERE effect_id = ?';
const SAVE = `INSERT INTO effects (effect_id, at, facts, result) VALUES (?, ?, ?, ?)
  ON CONFLICT (effect_id) DO UPDATE SET at = excluded.at, facts = excluded.facts, result = excluded.result`;
const ADD_USE = `INSERT INTO effect_uses (run_id, effect_id, node_id, attempt, at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (run_id, effect_id) DO NOTHING`;
const LIST = `SELECT e.effect_id, e.at, e.facts, u.run_id AS used_by, u.node_id AS used_in, u.attempt AS used_attempt
  FROM effect_uses u JOIN effects e ON e.effect_id = u.effect_id
  WHERE u.run_id = ? ORDER BY u.at, u.effect_id LIMIT ?`;
const SWEEP = 'DELETE FROM effects WHERE effect_id IN (SELECT effect_id FROM effects WHERE at < ? LIMIT ?)';

export function effectStore(reader: DatabaseSync, database: DatabaseSync, writer: Writer): EffectStore {
  const current = database.prepare(READ);
  const save = database.prepare(SAVE);
  const addUse = database.prepare(ADD_USE);
  const sweep = database.prepare(SWEEP);
  const read = reader.prepare(READ);
  const list = reader.prepare(LIST);

  return {
    async read(effectId) {
      const row = read.get(effectId);
      return row && effectOf(row);
    },
    async readForChange(effectId, transaction) {
      writer.require(transaction);
      const row = current.get(effectId);
      return row && effectOf(row);
    },
    async save(effect, transaction) {
      writer.require(transaction);
      save.run(...effectColumns(effect));
    },
    async addUse({ runId, effectId, nodeId, attempt, at }, transaction) {
      writer.require(transaction);
      return Number(addUse.run(runId, effectId, nodeId, attempt, at).changes) === 1;
    },
    list: async ({ runId }, limit) => list.all(runId, limit).map(usedEffectOf),
    sweep: (before, limit) => writer.transaction(async () => Number(sweep.run(before, limit).changes)),
  };
}
