import type { Check } from './check.ts';
import { CHECKS as RUNNABLE } from './checks/index.ts';

/**
 * All checks, in the order of `docs/conformance.md`.
 *
 * @example
 * import { CHECKS } from '@svc/conformance';
 *
 * const required = CHECKS.filter(({ level }) => level === 'MUST').map(({ id, name }) => `${id}: ${name}`);
 */
export const CHECKS: readonly Check[] = RUNNABLE;
