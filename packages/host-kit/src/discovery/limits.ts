import type { RunLimits } from '../execution/limits.ts';
import type { DiscoveryOptions } from './discovery-options.ts';
import { LIMITS } from './families.ts';
import type { DiscoveryInput } from './input.ts';
import { LIMIT_VALUES } from './limit-values.ts';
import { valid } from './valid.ts';

/**
 * Returns the `limits` record of both documents. It has limits of runs only if the host declares `limits`; absent
 * members then get the interface's values.
 *
 * @see Interface: Limits
 */
export function limitsOf({
  declared: { limits },
  maxRequestBodyBytes,
}: Pick<DiscoveryInput, 'declared' | 'maxRequestBodyBytes'>): Readonly<Record<string, number>> {
  return {
    clarificationRounds: LIMIT_VALUES['limits.clarificationRounds'],
    schemaRounds: LIMIT_VALUES['limits.schemaRounds'],
    envelopesPerTurn: LIMIT_VALUES['limits.envelopesPerTurn'],
    ...(limits !== undefined && {
      maxNodeExecutions: LIMIT_VALUES['limits.maxNodeExecutions'],
      maxRunDurationMs: LIMIT_VALUES['limits.maxRunDurationMs'],
      ...limits,
    }),
    maxRequestBodyBytes,
  };
}

/**
 * Returns the limits that the kit enforces: those of the `limits` record that it can count.
 *
 * @throws {TypeError} for a value that the interface does not allow
 */
export function runLimits(limits: DiscoveryOptions['limits']): RunLimits {
  const declared = limitsOf({ declared: { ...(limits !== undefined && { limits }) }, maxRequestBodyBytes: 1 });
  const { clarificationRounds, maxNodeExecutions, maxRunDurationMs, maxLoopIterations } = valid(
    LIMITS,
    declared,
    'discovery.limits',
  );
  return {
    clarificationRounds,
    ...(maxNodeExecutions !== undefined && { maxNodeExecutions }),
    ...(maxRunDurationMs !== undefined && { maxRunDurationMs }),
    ...(maxLoopIterations !== undefined && { maxLoopIterations }),
  };
}
