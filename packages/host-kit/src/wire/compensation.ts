import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { Run } from '../ports/runs.ts';
import { compensationStatus } from '../runs/compensation.ts';
import type { NodeCompensation } from '../runs/compensations.ts';
import { compensationState } from './compensation-status.ts';
import { runIdOf } from './event.ts';
import { runId } from './schemas.ts';

/** The schema of the compensation of a run. */
export const compensationRecord: z.ZodType = z
  .strictObject({
    runId: runId[2],
    status: compensationState,
    ordering: z.literal('reverse-completion'),
    compensations: z
      .array(
        z.strictObject({
          nodeId: z.string().describe('The node that is compensated.'),
          state: z.enum(['pending', 'running', 'completed', 'failed']),
          attempts: z.int().min(0).describe('The attempts that were started.'),
          at: z.iso.datetime().describe('The time of the last change of `state`.'),
          error: z.strictObject({ code: z.string(), message: z.string() }).optional(),
        }),
      )
      .describe('The completed nodes that can be compensated, in the order of their compensation.'),
  })
  .meta({ id: 'Compensation' });

/** The compensation of a run. */
export function compensationBody(run: Run, compensations: readonly NodeCompensation[]): JsonObject {
  return {
    runId: runIdOf[2](run),
    status: compensationStatus(run),
    ordering: 'reverse-completion',
    compensations: compensations.map(({ nodeId, state, attempts, at, error }) => ({
      ...{ nodeId, state, attempts, at: new Date(at).toISOString() },
      ...(error !== undefined && { error: { ...error } }),
    })),
  };
}
