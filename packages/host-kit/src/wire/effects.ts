import { bindId } from '@svc/versioning/ids';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { ListedEffect } from '../ports/effects.ts';
import type { Run } from '../ports/runs.ts';
import { runIdOf } from './event.ts';
import { runId } from './schemas.ts';

/** The schema of the effects of a run. */
export const effectLedger: z.ZodType = z
  .strictObject({
    runId: runId[2],
    effects: z.array(
      z.strictObject({
        effectId: z.string().describe('The same in every attempt to make the effect. Bound to the tenant.'),
        nodeId: z.string(),
        attempt: z.int().min(0).describe('The attempt of the node, from 0.'),
        keying: z
          .enum(['business-identity', 'activity-recipe'])
          .describe('The origin of `effectId`: the identity of a business operation, or the place in the run.'),
        state: z
          .enum(['claimed', 'completed', 'released', 'escaped'])
          .describe(
            '`claimed`: it is being made, or the host died meanwhile. `completed`: it was made. `released`: it was not ' +
              'made. `escaped`: it is unknown whether it was made.',
          ),
        at: z.iso.datetime().describe('The time of the last change of `state`.'),
        invocationId: z.string().optional().describe('The newest attempt to make the effect.'),
        providerKey: z.string().optional().describe('The name of the provider and its operation. Never a credential.'),
      }),
    ),
  })
  .meta({ id: 'EffectLedger' });

/** The effects that a run asked for, without their results. */
export function effectLedgerBody(run: Run, effects: readonly ListedEffect[]): JsonObject {
  return {
    runId: runIdOf[2](run),
    effects: effects.map(({ effectId, nodeId, attempt, keying, state, at, invocationId, providerKey }) => ({
      effectId: bindId(run.tenant, effectId),
      nodeId,
      attempt,
      keying,
      state,
      at: new Date(at).toISOString(),
      invocationId,
      providerKey,
    })),
  };
}
