import { EVENT_RENAMES } from './event-vocabulary.ts';
import type { Major } from './version.ts';

export { EVENT_RENAMES } from './event-vocabulary.ts';

/**
 * Returns a major's spelling of an event type that is given in the canonical vocabulary, which is the one of major 2.
 * Returns names that both majors spell alike, and vendors' names, unchanged.
 *
 * @example
 * import { eventName } from '@svc/versioning/events';
 *
 * eventName(1, 'run.dead-lettered'); // 'run.dead_lettered'
 */
export function eventName(major: Major, canonical: string): string {
  return FROM_CANONICAL[major].get(canonical) ?? canonical;
}

/**
 * Returns the canonical spelling of a major's event type, or undefined for a spelling that exists only in the other
 * major.
 *
 * @example
 * import { canonicalEventName } from '@svc/versioning/events';
 *
 * canonicalEventName(1, 'run.dead_lettered'); // 'run.dead-lettered'
 */
export function canonicalEventName(major: Major, name: string): string | undefined {
  return TO_CANONICAL[major].get(name) ?? (FOREIGN[major].has(name) ? undefined : name);
}

const V1_TO_V2: ReadonlyMap<string, string> = new Map(EVENT_RENAMES);
const V2_TO_V1: ReadonlyMap<string, string> = new Map(EVENT_RENAMES.map(([v1, v2]) => [v2, v1]));
const SAME: ReadonlyMap<string, string> = new Map();

const FROM_CANONICAL: Readonly<Record<Major, ReadonlyMap<string, string>>> = { 1: V2_TO_V1, 2: SAME };
const TO_CANONICAL: Readonly<Record<Major, ReadonlyMap<string, string>>> = { 1: V1_TO_V2, 2: SAME };
const FOREIGN: Readonly<Record<Major, { has(name: string): boolean }>> = { 1: V2_TO_V1, 2: V1_TO_V2 };
