import type { Major } from './version.ts';

/** The stage of a host's move between majors: only major 1, both side by side, or only major 2. */
export type Phase = 'before-overlap' | 'overlap' | 'after-overlap';

/**
 * Returns the phase of a host that serves these majors.
 *
 * @example
 * import { phaseOf } from '@svc/versioning';
 *
 * phaseOf(new Set([1, 2])); // 'overlap'
 * @see Interface: Versioning, Advertisement, 2 and 3
 */
export function phaseOf(majors: ReadonlySet<Major>): Phase {
  if (!majors.has(1)) return 'after-overlap';
  return majors.has(2) ? 'overlap' : 'before-overlap';
}

/**
 * The major of `preferred` in each phase. A client that sends no version stays on major 1 until that major is retired.
 */
export const PREFERRED_MAJOR: Readonly<Record<Phase, Major>> = {
  'before-overlap': 1,
  overlap: 1,
  'after-overlap': 2,
};
