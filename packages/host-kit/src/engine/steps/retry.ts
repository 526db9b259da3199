import { type OptionNames, requireKnown } from '../../known-options.ts';
import type { RetryPolicy } from './steps.ts';

/** A retry policy with its defaults. */
export type Retries = Required<RetryPolicy>;

/**
 * Completes a retry policy.
 *
 * @throws {TypeError} for an unknown member, and a value outside of its range
 */
export function retriesOf(step: string, policy: RetryPolicy | undefined): Retries {
  if (policy !== undefined) requireKnown(`step ${step}`, policy, RETRY, 'retry.');
  const { maxAttempts = 1, delayMs = 1000, factor = 2, maxDelayMs = 60_000 } = policy ?? {};
  requireWhole(step, 'maxAttempts', maxAttempts, 1, 1000);
  requireWhole(step, 'delayMs', delayMs, 0, LONGEST_MS);
  requireWhole(step, 'maxDelayMs', maxDelayMs, 0, LONGEST_MS);
  if (!(typeof factor === 'number' && factor >= 1 && factor <= 10))
    throw new TypeError(`step ${step}: retry.factor must be a number from 1 to 10.`);
  return { maxAttempts, delayMs, factor, maxDelayMs };
}

/** The time before the attempt that follows `failed` failed ones, in ms. */
export function delayAfter(failed: number, { delayMs, factor, maxDelayMs }: Retries): number {
  return Math.round(Math.min(maxDelayMs, delayMs * factor ** (failed - 1)));
}

function requireWhole(step: string, name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new TypeError(`step ${step}: retry.${name} must be a whole number from ${least} to ${most}.`);
}

const RETRY = {
  maxAttempts: true,
  delayMs: true,
  factor: true,
  maxDelayMs: true,
} as const satisfies OptionNames<RetryPolicy>;

const LONGEST_MS = 30 * 86_400_000;
