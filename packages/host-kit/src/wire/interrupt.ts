import type { Major } from '@svc/versioning';
import { z } from 'zod';
import { presentData } from '../interrupts/approvers.ts';
import type { TokenIntent } from '../interrupts/token.ts';
import type { Json, JsonObject } from '../json.ts';
import type { Interrupt } from '../ports/interrupts.ts';
import type { Run } from '../ports/runs.ts';
import { runIdOf } from './event.ts';
import { questionBody } from './interrupt-event.ts';
import { runStatus } from './run.ts';
import { jsonObject, jsonValue, runId } from './schemas.ts';

const RESOLVE: z.ZodType<{ resumeValue: Json }> = z.strictObject({
  resumeValue: jsonValue,
});

/** The schema of the body that resolves an interrupt. */
export const resolveRequest: Readonly<Record<Major, typeof RESOLVE>> = { 1: RESOLVE, 2: RESOLVE };

export const resolveExample: JsonObject = { resumeValue: { action: 'accept', feedback: 'well done' } };

/** The schema of the response to a resolved interrupt. */
export const resolvedInterrupt: Readonly<Record<Major, z.ZodType>> = { 1: resolved(1), 2: resolved(2) };

function resolved(major: Major): z.ZodType {
  return z
    .strictObject({ runId: runId[major], nodeId: z.string(), status: runStatus })
    .meta({ id: 'ResolvedInterrupt' });
}

/** The response to a resolved interrupt in the form of a major. */
export function resolvedBody(major: Major, run: Run, nodeId: string): JsonObject {
  return { runId: runIdOf[major](run), nodeId, status: run.status };
}

const QUESTION = {
  kind: z.string(),
  key: z.string(),
  data: jsonObject,
  resumeSchema: jsonObject.optional(),
  timeoutMs: z.int().min(0).optional(),
};

/** The schema of an open interrupt: open in major 1, closed in major 2. */
export const question: Readonly<Record<Major, z.ZodType>> = {
  1: z
    .object({
      ...QUESTION,
      runId: runId[1],
      nodeId: z.string(),
      interruptId: z.string(),
      requestedAt: z.iso.datetime(),
    })
    .meta({ id: 'Interrupt' }),
  2: z.strictObject(QUESTION).meta({ id: 'Interrupt' }),
};

/** An open interrupt in the form of a major. */
export function interruptBody(major: Major, interrupt: Interrupt): JsonObject {
  const { kind, key, resumeSchema, timeoutMs } = interrupt;
  const data = presentData(interrupt);
  return { ...questionBody(major, { kind, key, data, resumeSchema, timeoutMs }), ...PLACE[major](interrupt) };
}

/** Major 1 names the run, the node and the interrupt. */
const PLACE: Readonly<Record<Major, (interrupt: Interrupt) => JsonObject>> = {
  1: ({ runId: id, nodeId, interruptId, requestedAt }) => ({
    ...{ runId: id, nodeId, interruptId },
    requestedAt: new Date(requestedAt).toISOString(),
  }),
  2: () => ({}),
};

/** The schema of the body that overrides an approval. */
export const overrideRequest: z.ZodType<{ reason: string }> = z.strictObject({
  reason: z.string().trim().min(1).max(1000).describe('The reason of the override, for the log of the run.'),
});

/** The schema of the body of a request for an interrupt token. */
export const tokenRequest: z.ZodType<{ intent: TokenIntent; lifetimeSeconds?: number | undefined; form: Major }> =
  z.strictObject({
    intent: z
      .enum(['resolve', 'inspect'])
      .default('resolve')
      .describe('Whether the token answers the question, or only reads it.'),
    lifetimeSeconds: z.int().min(1).max(604_800).optional().describe('The lifetime of the token, in seconds.'),
    form: z
      .union([z.literal(1), z.literal(2)])
      .default(2)
      .describe('The major whose token format is used. Default 2.'),
  });

/** The schema of the response to a request for an interrupt token. */
export const mintedToken: z.ZodType = z
  .object({
    token: z.string().describe('The credential. Only this response has it.'),
    intent: z.enum(['resolve', 'inspect']),
    expiresAt: z.iso.datetime(),
    path: z.string().nullable().describe('The path that accepts the token. Null: this host does not serve its major.'),
  })
  .meta({ id: 'InterruptToken' });
