import type { Major } from './version.ts';

/** Where a host stands between the majors: with the first alone, with both side by side, with the second alone. */
export type Phase = 'before-overlap' | 'overlap' | 'after-overlap';

/** The phase that follows from the majors that a host serves. @see Interface: Versioning, Advertisement, 2 and 3 */
export function phaseOf(majors: ReadonlySet<Major>): Phase {
  if (!majors.has(1)) return 'after-overlap';
  return majors.has(2) ? 'overlap' : 'before-overlap';
}

/** The major that `preferred` must be of: a client that sends no version keeps the first major until it is retired. */
export const PREFERRED_MAJOR: Readonly<Record<Phase, Major>> = {
  'before-overlap': 1,
  overlap: 1,
  'after-overlap': 2,
};
