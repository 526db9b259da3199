import { createHash } from 'node:crypto';
import { nodeId as nodeIdRule } from '../events/members.ts';
import type { EffectKeying } from '../ports/effects.ts';
import type { EffectRequest } from '../ports/run-effects.ts';
import type { Run } from '../ports/runs.ts';

/** The id of an effect, and its origin. */
export interface EffectIdentity {
  readonly effectId: string;
  readonly keying: EffectKeying;
}

/**
 * Derives the id of an effect: 43 characters of base64url. The same request has the same id in every attempt. No other
 * workspace, tenant or mode has it.
 *
 * @throws {TypeError} for a request that is malformed
 */
export function effectIdentity(
  { tenant, workspace = '', mode, runId }: Pick<Run, 'tenant' | 'workspace' | 'mode' | 'runId'>,
  { nodeId, provider, identity }: EffectRequest,
): EffectIdentity {
  requireText('nodeId', nodeId, nodeIdRule.problem(nodeId) === undefined, NODE_ID);
  requireText('provider', provider, PROVIDER.test(provider), PROVIDER_RULE);
  if (identity !== null && typeof identity === 'object' && 'key' in identity) {
    const { key } = identity;
    requireText('identity.key', key, key.length > 0 && key.length <= LONGEST_KEY, `1 to ${LONGEST_KEY} characters`);
    return { effectId: digest('business', tenant, workspace, mode, provider, key), keying: 'business-identity' };
  }
  const ordinal = identity?.ordinal;
  if (!Number.isSafeInteger(ordinal) || ordinal < 0) {
    throw new TypeError('effect: identity must be { key } or { ordinal }, a whole number from 0. Pass one of them.');
  }
  const place = [tenant, workspace, mode, runId, nodeId, String(ordinal), provider];
  return { effectId: digest('activity', ...place), keying: 'activity-recipe' };
}

const PROVIDER = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/;
const PROVIDER_RULE = '1 to 128 characters of A-Z a-z 0-9 . _ : / -, a letter or digit first';
const NODE_ID = '1 to 128 characters of A-Z a-z 0-9 . _ ~ : -';
const LONGEST_KEY = 1024;

/** An engine need not be written in TypeScript, so `value` may be no text. */
function requireText(name: string, value: unknown, isFormed: boolean, rule: string): void {
  if (typeof value === 'string' && isFormed) return;
  throw new TypeError(`effect: ${name} must have ${rule}. Change it.`);
}

/** JSON separates the parts: no two lists of texts have the same one. */
function digest(...parts: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify(['svc:effect:1', ...parts]))
    .digest('base64url');
}
