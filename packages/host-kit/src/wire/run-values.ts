import type { Major } from '@svc/versioning';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import {
  MOST_NODES,
  MOST_VARIABLES,
  MOST_VARIABLES_SIZE,
  type NodeState,
  type RunCost,
  type RunValues,
} from '../runs/run-values.ts';
import { jsonObject } from './schemas.ts';

const variables = jsonObject
  .optional()
  .describe(
    'The inputs, the outputs of each completed node by its id, and the variables that the engine set. Beyond ' +
      `${MOST_VARIABLES} variables or ${MOST_VARIABLES_SIZE} characters of JSON, those that changed first are left out. ` +
      'A single value beyond that size is left out alone. The events have all of them. Absent in lists.',
  );

const metrics = z
  .strictObject({
    svcCost: z
      .strictObject({
        usd: z.number().min(0),
        tokens: z.strictObject({ input: z.int().min(0), output: z.int().min(0) }),
        model: z.string().optional(),
        provider: z.string().optional(),
        duration_ms: z.int().min(0),
      })
      .describe('The sum of the events `provider.usage`, with the model and the provider of the last one.'),
  })
  .optional()
  .describe('Absent while no provider has reported its usage, and in lists.');

const nodeState = z.strictObject({
  status: z.enum(['running', 'suspended', 'completed', 'failed', 'skipped', 'cancelled']),
  attempt: z.int().min(0),
  typeId: z.string().optional(),
  startedAt: z.iso.datetime().optional(),
  completedAt: z.iso.datetime().optional(),
  errorCode: z.string().optional(),
});

/** The schemas of the values in a snapshot. The closed snapshot of major 2 does not define `nodeStates`. */
export const valueMembers = {
  1: {
    variables,
    nodeStates: z
      .record(z.string(), nodeState)
      .optional()
      .describe(`The ${MOST_NODES} nodes that changed last, by id. Absent in lists.`),
    metrics,
  },
  2: { variables, metrics },
} as const;

/** The members of a snapshot that show the values of a run. */
export function valuesBody(major: Major, { variables: named, nodes, cost }: RunValues): JsonObject {
  const states = Object.fromEntries([...nodes].map(([nodeId, state]) => [nodeId, stateBody(state)]));
  return {
    variables: Object.fromEntries([...named].map(([name, { value }]) => [name, value])),
    ...(major === 1 && { nodeStates: states }),
    ...(cost !== undefined && { metrics: { svcCost: costBody(cost) } }),
  };
}

function stateBody({ startedAt, completedAt, ...state }: NodeState): JsonObject {
  return {
    ...state,
    ...(startedAt !== undefined && { startedAt: new Date(startedAt).toISOString() }),
    ...(completedAt !== undefined && { completedAt: new Date(completedAt).toISOString() }),
  };
}

function costBody({ usd, inputTokens, outputTokens, durationMs, provider, model }: RunCost): JsonObject {
  return {
    usd,
    tokens: { input: inputTokens, output: outputTokens },
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
    duration_ms: durationMs,
  };
}
