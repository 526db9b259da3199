import type { EffectStore } from '../../ports/effects.ts';
import { effectColumns, effectOf, usedEffectOf } from '../sql/effects.ts';
import type { Database } from './database.ts';

const READ = { name: 'effects-read', text: 'SELECT * FROM effects WHERE effect_id = $1' };
const ASK_ALONE = {
  name: 'effects-ask-alone',
  // A row lock would not hold back two transactions that both find no effect.
  text: `SELECT pg_advisory_xact_lock(hashtextextended('effect ' || $1, 0))`,
};
const SAVE = {
  name: 'effects-save',
  text: `INSERT INTO effects (effect_id, at, facts, result) VALUES ($1, $2, $3, $4)
    ON CONFLICT (effect_id) DO UPDATE SET at = excluded.at, facts = excluded.facts, result = excluded.result`,
};
const ADD_USE = {
  name: 'effects-add-use',
  text: `INSERT INTO effect_uses (run_id, effect_id, node_id, attempt, at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (run_id, effect_id) DO NOTHING`,
};
const LIST = {
  name: 'effects-list',
  text: `SELECT e.effect_id, e.at, e.facts, u.run_id AS used_by, u.node_id AS used_in, u.attempt AS used_attempt
    FROM effect_uses u JOIN effects e ON e.effect_id = u.effect_id
    WHERE u.run_id = $1 ORDER BY u.at, u.effect_id LIMIT $2`,
};
const SWEEP = {
  name: 'effects-sweep',
  text: `DELETE FROM effects WHERE effect_id IN (
    SELECT effect_id FROM effects WHERE at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`,
};

export function effectStore(database: Database): EffectStore {
  return {
    async read(effectId) {
      const [row] = (await database.query(READ, [effectId])).rows;
      return row && effectOf(row);
    },
    async readForChange(effectId, transaction) {
      await database.within(transaction, ASK_ALONE, [effectId]);
      const [row] = (await database.within(transaction, READ, [effectId])).rows;
      return row && effectOf(row);
    },
    async save(effect, transaction) {
      await database.within(transaction, SAVE, [...effectColumns(effect)]);
    },
    async addUse({ runId, effectId, nodeId, attempt, at }, transaction) {
      return (await database.within(transaction, ADD_USE, [runId, effectId, nodeId, attempt, at])).count === 1;
    },
    async list({ runId }, limit) {
      return (await database.query(LIST, [runId, limit])).rows.map(usedEffectOf);
    },
    async sweep(before, limit) {
      return (await database.query(SWEEP, [before, limit])).count;
    },
  };
}
