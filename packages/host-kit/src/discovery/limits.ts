import type { DiscoveryInput } from './input.ts';
import { LIMIT_VALUES } from './limit-values.ts';

/**
 * The limits of both documents. What bounds a run is told by a host whose engine bounds it, and where that host leaves one out it is the
 * interface's.
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
