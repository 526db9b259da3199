import type { Major } from '@svc/versioning';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { PauseRequest, Run } from '../ports/runs.ts';
import { runIdOf } from './event.ts';
import { runStatus } from './run.ts';
import { runId } from './schemas.ts';

const REASON = z.string().max(512).optional();

/** Why, in words of the caller's own. */
export const reasonRequest: Readonly<Record<Major, z.ZodType<{ reason?: string | undefined }>>> = both(
  z.strictObject({ reason: REASON }),
);

export const pauseRequest: Readonly<Record<Major, z.ZodType<PauseRequest>>> = both(
  z
    .strictObject({
      reason: REASON,
      drainPolicy: z
        .enum(['drain-current-node', 'immediate'])
        .default('drain-current-node')
        .describe('Whether what is under way ends first or is cut.'),
    })
    .transform(({ reason, drainPolicy }) => ({ drainPolicy, ...(reason !== undefined && { reason }) })),
);

/** How many runs one bulk cancel may name. */
export const MOST_RUN_IDS = 100;

export const bulkCancelRequest: Readonly<Record<Major, z.ZodType<{ runIds: string[]; reason?: string | undefined }>>> =
  both(
    z.strictObject({
      // Bounded where it is served: the refusal says how many.
      runIds: z.array(z.string().min(1).max(512)).describe(`1 to ${MOST_RUN_IDS} of them.`),
      reason: REASON,
    }),
  );

function both<Body>(schema: z.ZodType<Body>): Readonly<Record<Major, z.ZodType<Body>>> {
  return { 1: schema, 2: schema };
}

const CANCEL_STATUS = z.enum(['cancelling', 'cancelled']);

/** The schema of the answer to a cancel. Major 1 tells by a field of its own that there was nothing left to cancel. */
export const cancelled: Readonly<Record<Major, z.ZodType>> = {
  1: z
    .object({ runId: runId[1], status: runStatus, alreadyTerminal: z.literal(true).optional() })
    .meta({ id: 'CancelledRun' }),
  2: z.strictObject({ runId: runId[2], status: CANCEL_STATUS }).meta({ id: 'CancelledRun' }),
};

export function cancelledBody(major: Major, run: Run): JsonObject {
  return { runId: runIdOf[major](run), status: run.status };
}

const ERROR = z.looseObject({ error: z.string(), message: z.string() });

/** The schema of the answer to a bulk cancel. */
export const bulkCancelled: z.ZodType = z
  .strictObject({
    results: z
      .array(
        z.strictObject({
          runId: z.string().describe('As it was asked.'),
          ok: z.boolean(),
          status: CANCEL_STATUS.optional(),
          error: ERROR.optional().describe('The error envelope of a cancel of this run alone.'),
        }),
      )
      .describe('In the order of the request.'),
  })
  .meta({ id: 'BulkCancelledRuns' });

/** The schema of the answer to a pause. */
export const pausedRun: Readonly<Record<Major, z.ZodType>> = {
  1: paused(1),
  2: paused(2),
};

function paused(major: Major): z.ZodType {
  return z
    .strictObject({
      runId: runId[major],
      status: z.literal('paused'),
      pausedAt: z.iso.datetime().optional().describe('Absent while the run waits for what is under way to end.'),
    })
    .meta({ id: 'PausedRun' });
}

export function pausedBody(major: Major, run: Run): JsonObject {
  const pausedAt = run.pausedAt === undefined ? {} : { pausedAt: new Date(run.pausedAt).toISOString() };
  return { runId: runIdOf[major](run), status: 'paused', ...pausedAt };
}

/** The schema of the answer to a resume. */
export const resumedRun: Readonly<Record<Major, z.ZodType>> = {
  1: resumed(1),
  2: resumed(2),
};

function resumed(major: Major): z.ZodType {
  return z
    .strictObject({
      runId: runId[major],
      status: z.literal('running'),
      resumedAt: z.iso.datetime().optional().describe('Absent where a pause was withdrawn before it came.'),
    })
    .meta({ id: 'ResumedRun' });
}

export function resumedBody(major: Major, run: Run, resumedAt: number | undefined): JsonObject {
  const at = resumedAt === undefined ? {} : { resumedAt: new Date(resumedAt).toISOString() };
  return { runId: runIdOf[major](run), status: 'running', ...at };
}
