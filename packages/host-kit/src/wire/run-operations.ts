import type { Major } from '@svc/versioning';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { PauseRequest, Run } from '../ports/runs.ts';
import { runIdOf } from './event.ts';
import { runStatus } from './run.ts';
import { runId } from './schemas.ts';

const REASON = z.string().max(512).optional();

/** The schema of the body of a cancel or a resume: a reason in free text, at most 512 characters. */
export const reasonRequest: Readonly<Record<Major, z.ZodType<{ reason?: string | undefined }>>> = both(
  z.strictObject({ reason: REASON }),
);

/** The schema of the body of a pause. */
export const pauseRequest: Readonly<Record<Major, z.ZodType<PauseRequest>>> = both(
  z
    .strictObject({
      reason: REASON,
      drainPolicy: z
        .enum(['drain-current-node', 'immediate'])
        .default('drain-current-node')
        .describe('Lets a running node finish (`drain-current-node`, the default) or interrupts it (`immediate`).'),
    })
    .transform(({ reason, drainPolicy }) => ({ drainPolicy, ...(reason !== undefined && { reason }) })),
);

/** The largest number of runs in one bulk cancel. */
export const MOST_RUN_IDS = 100;

/** The schema of the body of a bulk cancel. */
export const bulkCancelRequest: Readonly<Record<Major, z.ZodType<{ runIds: string[]; reason?: string | undefined }>>> =
  both(
    z.strictObject({
      // The route checks the length: its error has the limit in `maxRunIds`.
      runIds: z.array(z.string().min(1).max(512)).describe(`The ids of 1 to ${MOST_RUN_IDS} runs.`),
      reason: REASON,
    }),
  );

function both<Body>(schema: z.ZodType<Body>): Readonly<Record<Major, z.ZodType<Body>>> {
  return { 1: schema, 2: schema };
}

const CANCEL_STATUS = z.enum(['cancelling', 'cancelled']);

/** The schema of the response to a cancel. In major 1 `alreadyTerminal` marks a run that had ended before. */
export const cancelled: Readonly<Record<Major, z.ZodType>> = {
  1: z
    .object({ runId: runId[1], status: runStatus, alreadyTerminal: z.literal(true).optional() })
    .meta({ id: 'CancelledRun' }),
  2: z.strictObject({ runId: runId[2], status: CANCEL_STATUS }).meta({ id: 'CancelledRun' }),
};

/** The response to a cancel in the form of a major. */
export function cancelledBody(major: Major, run: Run): JsonObject {
  return { runId: runIdOf[major](run), status: run.status };
}

const ERROR = z.looseObject({ error: z.string(), message: z.string() });

/** The schema of the response to a bulk cancel. */
export const bulkCancelled: z.ZodType = z
  .strictObject({
    results: z
      .array(
        z.strictObject({
          runId: z.string().describe('The id as the request names it; in major 2 always bound to its tenant.'),
          ok: z.boolean(),
          status: CANCEL_STATUS.optional(),
          error: ERROR.optional().describe('The error envelope that a cancel of this run alone would return.'),
        }),
      )
      .describe('One result for each id, in the order of the request.'),
  })
  .meta({ id: 'BulkCancelledRuns' });

/** The schema of the response to a pause. */
export const pausedRun: Readonly<Record<Major, z.ZodType>> = {
  1: paused(1),
  2: paused(2),
};

function paused(major: Major): z.ZodType {
  return z
    .strictObject({
      runId: runId[major],
      status: z.literal('paused'),
      pausedAt: z.iso.datetime().optional().describe('Absent while a running node finishes first.'),
    })
    .meta({ id: 'PausedRun' });
}

/** The response to a pause in the form of a major. */
export function pausedBody(major: Major, run: Run): JsonObject {
  const pausedAt = run.pausedAt === undefined ? {} : { pausedAt: new Date(run.pausedAt).toISOString() };
  return { runId: runIdOf[major](run), status: 'paused', ...pausedAt };
}

/** The schema of the response to a resume. */
export const resumedRun: Readonly<Record<Major, z.ZodType>> = {
  1: resumed(1),
  2: resumed(2),
};

function resumed(major: Major): z.ZodType {
  return z
    .strictObject({
      runId: runId[major],
      status: z.literal('running'),
      resumedAt: z.iso.datetime().optional().describe('Absent when the pause was withdrawn before it took effect.'),
    })
    .meta({ id: 'ResumedRun' });
}

/** The response to a resume in the form of a major. */
export function resumedBody(major: Major, run: Run, resumedAt: number | undefined): JsonObject {
  const at = resumedAt === undefined ? {} : { resumedAt: new Date(resumedAt).toISOString() };
  return { runId: runIdOf[major](run), status: 'running', ...at };
}
