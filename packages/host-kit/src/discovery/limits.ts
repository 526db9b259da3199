import type { DiscoveryInput } from './input.ts';
import { LIMIT_VALUES } from './limit-values.ts';

/**
 * Returns the `limits` record of both documents. It has limits of runs only if the host declares `limits`; absent
 * members then get the interface's values.
 *
 * @see Interface: Limits
 */
export function limitsOf({
  capabilities: { limits },
  maxRequestBodyBytes,
}: Pick<DiscoveryInput, 'capabilities' | 'maxRequestBodyBytes'>): Readonly<Record<string, number>> {
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
