import type { Effect, ListedEffect } from '../../ports/effects.ts';
import { integer, optional, type Row, text } from './row.ts';

/** Returns the values of `effect_id`, `at`, `facts` and `result`. */
export function effectColumns({ effectId, at, result, ...facts }: Effect) {
  return [effectId, at, JSON.stringify(facts), result === undefined ? null : JSON.stringify(result)] as const;
}

export function effectOf(row: Row): Effect {
  const result = optional(row, 'result', text);
  return { ...listedEffectOf(row), ...(result !== undefined && { result: JSON.parse(result) }) };
}

/** Reads an effect joined with a use of it, without its result: `used_by`, `used_in` and `used_attempt`. */
export function usedEffectOf(row: Row): ListedEffect {
  const effect = listedEffectOf(row);
  if (effect.runId === text(row, 'used_by')) return effect;
  return { ...effect, nodeId: text(row, 'used_in'), attempt: integer(row, 'used_attempt') };
}

function listedEffectOf(row: Row): ListedEffect {
  return { ...JSON.parse(text(row, 'facts')), effectId: text(row, 'effect_id'), at: integer(row, 'at') };
}
