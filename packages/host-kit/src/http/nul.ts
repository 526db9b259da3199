import { invalid } from '../errors.ts';
import type { Exchange } from './exchange.ts';
import { queryOf } from './target.ts';

/**
 * Refuses U+0000 in the path and the query. No id, name, time or cursor has it, and PostgreSQL fails on a text that does.
 *
 * @throws {HostError} `validation_error`
 */
export function refuseNul({ arrival: { target }, params }: Exchange): void {
  // Every request comes by here, and almost none has it.
  if (!target.includes('%00')) return;
  for (const [name, segment] of Object.entries(params)) {
    if (segment.includes('%00')) throw invalid({ field: `path.${name}`, problem: PROBLEM });
  }
  for (const [name, value] of queryOf(target)) {
    const shown = name.replaceAll('\0', '').slice(0, 64);
    if (`${name}${value}`.includes('\0')) throw invalid({ field: `query.${shown}`, problem: PROBLEM });
  }
}

const PROBLEM = 'must not contain U+0000';
